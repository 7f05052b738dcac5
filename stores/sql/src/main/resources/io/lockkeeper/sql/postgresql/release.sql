-- Ends a hold that nobody waits for, in one statement; it need not wait for the disk, for losing it only delays.
UPDATE ${lock} SET holders = 0, claim = NULL, touched = c.now
FROM (SELECT ${now} AS now, set_config('synchronous_commit', 'off', true) AS lazy) c
WHERE name = :name AND claim = :claim AND holders = 1 AND waiters = 0 AND recalled < 0 AND stray = 0 AND expires > c.now
  AND format <= 1 AND c.lazy = 'off'
