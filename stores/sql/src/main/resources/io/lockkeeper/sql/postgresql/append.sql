-- Takes a place at the end of a queue, in one statement, in a name that is held: its first holder has not expired, and others
-- wait already, so that somebody will look when it opens. Gives how many are ahead, and the time; no row: see the general way.
WITH place AS (
  UPDATE ${lock} SET waiters = waiters + 1, next_seq = next_seq + 1, touched = ${now}
  WHERE name = :name AND claim <> :claim AND holders > 0 AND waiters > 0 AND permit_limit = :permit_limit AND expires > ${now} AND ${now} <= :deadline
    AND strays_until < ${now} AND format <= 1
  RETURNING name, next_seq - 1 AS seq, waiters - 1 AS ahead, touched AS at),
entry AS (
  INSERT INTO ${claim} (name, claim, seq, state, until, client, label, mode, permits, permit_limit, token, block, since, expires,
  confirmed, recalled, lease, lock_delay, patience, deadline, stray)
  SELECT name, :claim, seq, 'W', at + :patience, :client, :label, :mode, :permits, :permit_limit, 0, :block, 0, 0,
  0, -1, :lease, :lock_delay, :patience, :deadline, 0
  FROM place)
SELECT ahead, at FROM place
