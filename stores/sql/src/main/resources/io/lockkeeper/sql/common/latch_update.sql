-- Writes back the latch's row.
UPDATE ${latch} SET remaining = :remaining, generation = :generation, done = :done, watchers = :watchers, keep_until = :keep_until
WHERE name = :name
