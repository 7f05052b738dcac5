-- Writes down who has taken that place.
INSERT INTO ${claim} (name, claim, seq, state, until, client, label, mode, permits, permit_limit, token, block, since, expires,
  confirmed, recalled, lease, lock_delay, patience, deadline, stray)
SELECT name, :claim, next_seq - 1, 'W', ${now} + :patience, :client, :label, :mode, :permits, :permit_limit, 0, :block, 0, 0,
  0, -1, :lease, :lock_delay, :patience, :deadline, 0
FROM ${lock} WHERE name = :name
