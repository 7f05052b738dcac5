-- Takes a name that nobody uses, in one statement; changes nothing when it is in use, or the claim came too late.
-- Assignments are made in this order: that to holders, which ${free} looks at, is the last; floor comes after what needs it.
INSERT INTO ${lock} (name, holders, waiters, closed_until, floor, touched, next_seq, strays, strays_until, format, claim, client, label,
  mode, permits, permit_limit, token, block, since, expires, confirmed, recalled, lease, lock_delay, patience, deadline, stray)
SELECT :name, 1, 0, 0, t.first + :block - 1, t.now, t.now, '', 0, 1, :claim, :client, :label,
  :mode, :permits, :permit_limit, t.first, :block, t.now, t.now + :lease, 1, -1, :lease, :lock_delay, :patience, :deadline, 0
FROM (SELECT c.now, GREATEST(m.floor + 1, c.now) AS first FROM (SELECT ${now} AS now) c, ${meta} m WHERE m.one = 1) t
WHERE t.now <= :deadline
ON DUPLICATE KEY UPDATE
  touched = IF(${free}, VALUES(since), touched),
  claim = IF(${free}, VALUES(claim), claim),
  client = IF(${free}, VALUES(client), client),
  label = IF(${free}, VALUES(label), label),
  mode = IF(${free}, VALUES(mode), mode),
  permits = IF(${free}, VALUES(permits), permits),
  permit_limit = IF(${free}, VALUES(permit_limit), permit_limit),
  token = IF(${free}, GREATEST(floor + 1, VALUES(since)), token),
  block = IF(${free}, IF(floor < VALUES(since), VALUES(block), 1), block),
  since = IF(${free}, VALUES(since), since),
  expires = IF(${free}, VALUES(expires), expires),
  confirmed = IF(${free}, VALUES(confirmed), confirmed),
  recalled = IF(${free}, VALUES(recalled), recalled),
  lease = IF(${free}, VALUES(lease), lease),
  lock_delay = IF(${free}, VALUES(lock_delay), lock_delay),
  patience = IF(${free}, VALUES(patience), patience),
  deadline = IF(${free}, VALUES(deadline), deadline),
  stray = IF(${free}, VALUES(stray), stray),
  floor = IF(${free}, GREATEST(floor + 1, VALUES(since)) + IF(floor < VALUES(since), VALUES(block), 1) - 1, floor),
  holders = IF(${free}, 1, holders)
