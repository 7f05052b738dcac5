-- Changes one of these.
UPDATE ${claim} SET seq = :seq, state = :state, until = :until, mode = :mode, token = :token, block = :block, since = :since,
  expires = :expires, confirmed = :confirmed, recalled = :recalled, stray = :stray
WHERE name = :name AND claim = :claim
