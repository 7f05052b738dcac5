-- Where a holder but the first, or a waiter, is written down.
INSERT INTO ${claim} (name, claim, seq, state, until, client, label, mode, permits, permit_limit, token, block, since, expires,
  confirmed, recalled, lease, lock_delay, patience, deadline, stray)
