-- Takes a place at the end of a queue, in one trip, in a name that is held: its first holder has not expired, and others wait
-- already, so that somebody will look when it opens. Gives how many are ahead, and the time; no row: see the general way.
BEGIN NOT ATOMIC
  DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN ROLLBACK; RESIGNAL; END;
  START TRANSACTION;
  UPDATE ${lock} SET waiters = waiters + 1, next_seq = next_seq + 1, touched = ${now}
  WHERE name = :name AND claim <> :claim AND holders > 0 AND waiters > 0 AND permit_limit = :permit_limit AND expires > ${now} AND ${now} <= :deadline
    AND strays_until < ${now} AND format <= 1;
  IF ROW_COUNT() = 1 THEN
    INSERT INTO ${claim} (name, claim, seq, state, until, client, label, mode, permits, permit_limit, token, block, since, expires,
      confirmed, recalled, lease, lock_delay, patience, deadline, stray)
    SELECT name, :claim, next_seq - 1, 'W', ${now} + :patience, :client, :label, :mode, :permits, :permit_limit, 0, :block, 0, 0,
      0, -1, :lease, :lock_delay, :patience, :deadline, 0
    FROM ${lock} WHERE name = :name;
    SELECT waiters - 1 AS ahead, ${now} AS at FROM ${lock} WHERE name = :name;
  END IF;
  COMMIT;
END
