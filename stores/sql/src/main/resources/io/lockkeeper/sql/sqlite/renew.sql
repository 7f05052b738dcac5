-- Lengthens and confirms all these holds at once; gives those that are kept.
UPDATE ${lock} SET expires = MAX(expires, ${now} + :lease), confirmed = 1
WHERE name IN (:names...) AND claim IN (:claims...) AND holders > 0 AND recalled < 0 AND expires > ${now} AND format <= 1
RETURNING claim, expires - ${now} AS remaining, ${now} AS at
