-- Lengthens and confirms all these holds at once; renewed.sql says which are kept. By the key: a scan would wait for others' rows.
UPDATE ${lock} FORCE INDEX (PRIMARY) SET expires = GREATEST(expires, ${now} + :lease), confirmed = 1
WHERE name IN (:names...) AND claim IN (:claims...) AND holders > 0 AND recalled < 0 AND expires > ${now} AND format <= 1
