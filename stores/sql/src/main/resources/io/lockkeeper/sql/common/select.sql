-- Names in use, from one code to before another, the first :limit of them: their rows, each followed by its holders but the first and
-- its waiters, in order. One statement, so that all is of one moment: a holder may move from one table to the other.
WITH page AS (
  SELECT l.*, ${now} AS at FROM ${lock} l
  WHERE name >= :from AND name < :to AND ${in_use}
  ORDER BY name LIMIT :limit)
SELECT name, '' AS state, 0 AS seq, 0 AS until, holders, closed_until, format, claim, client, label, mode, permits, permit_limit, token, block, since, expires, confirmed, recalled, lease, lock_delay, patience, deadline, stray,
  at
FROM page
UNION ALL
SELECT c.name, c.state, c.seq, c.until, 0, 0, 0, c.claim, c.client, c.label, c.mode, c.permits, c.permit_limit, c.token, c.block, c.since, c.expires, c.confirmed, c.recalled, c.lease, c.lock_delay, c.patience, c.deadline, c.stray,
  0
FROM ${claim} c JOIN page p ON p.name = c.name
ORDER BY name, state, seq ${all}
