-- Lengthens and confirms all these holds at once; gives those that are kept. Rows that others have locked are left to the general
-- way: one that somebody keeps locked must not hold up all.
WITH found AS MATERIALIZED (
  SELECT name FROM ${lock} WHERE name IN (:names...) AND claim IN (:claims...) AND holders > 0 AND recalled < 0 AND format <= 1
  ORDER BY name FOR NO KEY UPDATE SKIP LOCKED)
UPDATE ${lock} AS l SET expires = GREATEST(l.expires, c.now + :lease), confirmed = 1
FROM found f, (SELECT ${now} AS now) c
WHERE l.name = f.name AND l.expires > ${now}
RETURNING l.claim, l.expires - c.now AS remaining, c.now AS at
