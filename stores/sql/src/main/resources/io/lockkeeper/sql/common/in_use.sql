-- Whether there may be something to see of a name: a holder that has not expired or whose lock-delay lasts, others, a waiter, or a
-- name that is closed.
(holders > 1 OR waiters > 0 OR closed_until > ${now}
  OR (holders = 1 AND (expires > ${now} OR expires + lock_delay > ${now} OR expires + recalled > ${now})))
