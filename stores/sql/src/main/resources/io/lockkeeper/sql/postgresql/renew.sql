-- Lengthens and confirms all these holds at once; gives those that are kept.
UPDATE ${lock} AS l SET expires = GREATEST(l.expires, c.now + :lease), confirmed = 1
FROM (SELECT ${now} AS now) c
WHERE l.name IN (:names...) AND l.claim IN (:claims...) AND l.recalled < 0 AND l.expires > ${now} AND l.format <= 1
RETURNING l.claim, l.expires - c.now AS remaining, c.now AS at
