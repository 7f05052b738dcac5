-- Where a portion of the tables ends that begins after :after: the last of at most :size names of each. A NULL: there are fewer.
SELECT
  (SELECT name FROM ${lock} WHERE name > :after ORDER BY name LIMIT 1 OFFSET :size) AS locks,
  (SELECT name FROM ${claim} WHERE name > :after ORDER BY name LIMIT 1 OFFSET :size) AS claims,
  (SELECT name FROM ${latch} WHERE name > :after ORDER BY name LIMIT 1 OFFSET :size) AS latches ${all}
