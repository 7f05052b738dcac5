-- Ends a hold that nobody waits for, in one statement.
UPDATE ${lock} SET holders = 0, claim = NULL, touched = ${now}
WHERE name = :name AND claim = :claim AND holders = 1 AND waiters = 0 AND recalled < 0 AND stray = 0 AND expires > ${now}
  AND format <= 1
