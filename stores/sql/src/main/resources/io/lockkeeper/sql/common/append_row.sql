-- Takes a place at the end of a queue, in a name that is held: its first holder has not expired, and is the only one, or others
-- wait already, so that somebody will look when it opens. No row changed: see the general way.
UPDATE ${lock} SET waiters = waiters + 1, next_seq = next_seq + 1, touched = ${now}
WHERE name = :name AND claim <> :claim AND holders > 0 AND (waiters > 0 OR mode = 'X') AND permit_limit = :permit_limit AND expires > ${now}
  AND ${now} <= :deadline AND strays_until < ${now} AND format <= 1
