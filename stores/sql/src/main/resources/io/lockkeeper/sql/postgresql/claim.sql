-- Takes a name that nobody uses, in one statement. No row: it is in use, or the claim came too late.
-- Gives the first token, their number, what is left of the lease, and the time.
INSERT INTO ${lock} AS l (name, holders, waiters, closed_until, floor, touched, next_seq, strays, strays_until, format, claim, client, label,
  mode, permits, permit_limit, token, block, since, expires, confirmed, recalled, lease, lock_delay, patience, deadline, stray)
SELECT :name, 1, 0, 0, t.first + :block - 1, t.now, t.now, '', 0, 1, :claim, :client, :label,
  :mode, :permits, :permit_limit, t.first, :block, t.now, t.now + :lease, 1, -1, :lease, :lock_delay, :patience, :deadline, 0
FROM (SELECT c.now, GREATEST(m.floor + 1, c.now) AS first FROM (SELECT ${now} AS now) c, ${meta} m WHERE m.one = 1) t
WHERE t.now <= :deadline
ON CONFLICT (name) DO UPDATE SET
  holders = 1, touched = excluded.since, claim = excluded.claim, client = excluded.client, label = excluded.label,
  mode = excluded.mode, permits = excluded.permits, permit_limit = excluded.permit_limit,
  token = GREATEST(l.floor + 1, excluded.since),
  block = CASE WHEN l.floor < excluded.since THEN excluded.block ELSE 1 END,
  floor = GREATEST(l.floor + 1, excluded.since) + CASE WHEN l.floor < excluded.since THEN excluded.block ELSE 1 END - 1,
  since = excluded.since, expires = excluded.expires, confirmed = 1, recalled = -1, lease = excluded.lease,
  lock_delay = excluded.lock_delay, patience = excluded.patience, deadline = excluded.deadline, stray = 0
WHERE l.holders = 0 AND l.waiters = 0 AND l.closed_until <= excluded.since AND l.strays_until < excluded.since
  AND l.format <= 1
  -- it may have waited for the row meanwhile
  AND ${now} <= excluded.deadline
RETURNING token, block, expires - since AS remaining, since AS at
