-- Takes a name that nobody uses, in one statement. No row: it is in use, or the claim came too late.
-- Not ON l.name = n.name: that is of a type that ignores case while IGNORECASE is TRUE.
-- Gives the first token, their number, what is left of the lease, and the time.
SELECT token, block, expires - since AS remaining, since AS at FROM FINAL TABLE (
MERGE INTO ${lock} l USING (
  SELECT CAST(:name AS VARCHAR) AS name, c.now AS now, GREATEST(m.floor + 1, c.now) AS first, CAST(:block AS INTEGER) AS block,
    CAST(:claim AS VARCHAR) AS claim, CAST(:client AS VARCHAR) AS client, CAST(:label AS VARCHAR) AS label,
    CAST(:mode AS VARCHAR) AS mode, CAST(:permits AS INTEGER) AS permits, CAST(:permit_limit AS INTEGER) AS permit_limit,
    CAST(:lease AS BIGINT) AS lease, CAST(:lock_delay AS BIGINT) AS lock_delay, CAST(:patience AS BIGINT) AS patience,
    CAST(:deadline AS BIGINT) AS deadline
  FROM (SELECT ${now} AS now) c, ${meta} m WHERE m.one = 1 AND c.now <= :deadline) n
ON l.name = :name
WHEN MATCHED AND l.holders = 0 AND l.waiters = 0 AND l.closed_until <= n.now AND l.strays_until < n.now AND l.format <= 1
THEN UPDATE SET
  holders = 1, touched = n.now, claim = n.claim, client = n.client, label = n.label,
  mode = n.mode, permits = n.permits, permit_limit = n.permit_limit,
  token = GREATEST(l.floor + 1, n.now),
  block = CASE WHEN l.floor < n.now THEN n.block ELSE 1 END,
  floor = GREATEST(l.floor + 1, n.now) + CASE WHEN l.floor < n.now THEN n.block ELSE 1 END - 1,
  since = n.now, expires = n.now + n.lease, confirmed = 1, recalled = -1, lease = n.lease,
  lock_delay = n.lock_delay, patience = n.patience, deadline = n.deadline, stray = 0
WHEN NOT MATCHED THEN INSERT (name, holders, waiters, closed_until, floor, touched, next_seq, strays, strays_until, format, claim, client, label,
  mode, permits, permit_limit, token, block, since, expires, confirmed, recalled, lease, lock_delay, patience, deadline, stray)
VALUES (n.name, 1, 0, 0, n.first + n.block - 1, n.now, n.now, '', 0, 1, n.claim, n.client, n.label,
  n.mode, n.permits, n.permit_limit, n.first, n.block, n.now, n.now + n.lease, 1, -1, n.lease, n.lock_delay, n.patience,
  n.deadline, 0))
