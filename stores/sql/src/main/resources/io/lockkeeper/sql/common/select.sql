-- Names in use, from one code to before another: their rows, each followed by its holders but the first and its waiters, in order.
-- One statement, so that all is of one moment: a holder may move from one table to the other.
SELECT name, '' AS state, 0 AS seq, 0 AS until, holders, closed_until, format, claim, client, label, mode, permits, permit_limit, token, block, since, expires, confirmed, recalled, lease, lock_delay, patience, deadline, stray,
  ${now} AS at
FROM ${lock} WHERE name >= :from AND name < :to AND (holders > 0 OR waiters > 0 OR closed_until > ${now})
UNION ALL
SELECT name, state, seq, until, 0 AS holders, 0 AS closed_until, 0 AS format, claim, client, label, mode, permits, permit_limit, token, block, since, expires, confirmed, recalled, lease, lock_delay, patience, deadline, stray,
  0 AS at
FROM ${claim} WHERE name >= :from AND name < :to
ORDER BY name, state, seq
