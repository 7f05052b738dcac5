-- Lengthens and confirms all these holds at once; renewed.sql tells which are kept.
UPDATE ${lock} SET expires = GREATEST(expires, ${now} + :lease), confirmed = 1
WHERE name IN (:names...) AND claim IN (:claims...) AND recalled < 0 AND expires > ${now} AND format <= 1
