-- Looks at these latches.
SELECT name, remaining, generation FROM ${latch} WHERE name IN (:names...) ${all}
