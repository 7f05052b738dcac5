-- Writes back the name's row.
UPDATE ${lock} SET holders = :holders, waiters = :waiters, closed_until = :closed_until, floor = :floor, touched = :touched,
  next_seq = :next_seq,
  strays = :strays, strays_until = :strays_until, claim = :claim, client = :client, label = :label, mode = :mode,
  permits = :permits, permit_limit = :permit_limit, token = :token, block = :block, since = :since, expires = :expires,
  confirmed = :confirmed, recalled = :recalled, lease = :lease, lock_delay = :lock_delay, patience = :patience,
  deadline = :deadline, stray = :stray
WHERE name = :name
