-- The rules: who holds a name, who waits, and how that changes. They are those of the reference model.

local BETWEEN_LOOKS = 100000
local min = math.min

local function parse(terms)
  local permits, limit, lease, first, delay, patience, block, deadline, client =
    match(terms, '^(%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%S+)')
  return {
    permits = tonumber(permits), limit = tonumber(limit), lease = tonumber(lease), first = tonumber(first),
    delay = tonumber(delay), patience = tonumber(patience), block = tonumber(block), deadline = tonumber(deadline),
    client = client,
  }
end

-- The name whose record is the nth key, with the others behind it, in the bucket whose floor is the bth key.
local function load(n, b)
  local name = {
    record = KEYS[n], places = KEYS[n + 1], limits = KEYS[n + 2], queued = KEYS[n + 3],
    floor = KEYS[b], refused = KEYS[b + 1],
    closed = 0, keep = 0, place = 0, holders = {}, known = false, changed = false,
  }
  local record = call('GET', name.record)
  if record then
    local format, closed, keep, place, lines = match(record, '^(%d+) (%d+) (%d+) (%d+)(.*)$')
    if format ~= FORMAT then
      error('LKFORMAT ' .. tostring(match(record, '^%d+')))
    end
    name.known = true
    name.closed, name.keep, name.place = tonumber(closed), tonumber(keep), tonumber(place)
    for id, mode, stray, token, block, since, expires, confirmed, recalled, terms in
      string.gmatch(lines, '\n(%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+) ([^\n]*)')
    do
      name.holders[#name.holders + 1] = {
        id = id, mode = mode, stray = stray, token = token, block = tonumber(block), since = since,
        expires = tonumber(expires), confirmed = confirmed, recalled = tonumber(recalled), terms = terms,
      }
    end
  end
  return name
end

-- Writes back what has changed. Whatever nobody touches any more goes by itself, once it can have no effect any more.
local function save(name)
  if not name.changed then
    return
  end
  if #name.holders == 0 and name.place == 0 and name.closed <= now then
    if name.known then
      call('DEL', name.record)
    end
    return
  end
  local last = max(name.closed, name.place > 0 and name.keep or 0)
  local lines = { table.concat({ FORMAT, text(name.closed), text(name.keep), text(name.place) }, ' ') }
  for i, held in ipairs(name.holders) do
    local terms = parse(held.terms)
    last = max(last, held.expires + max(terms.delay, held.recalled), held.stray == '1' and terms.deadline or 0)
    lines[i + 1] = table.concat({
      held.id, held.mode, held.stray, held.token, text(held.block), held.since, text(held.expires), held.confirmed,
      text(held.recalled), held.terms,
    }, ' ')
  end
  call('SET', name.record, table.concat(lines, '\n'), 'PX', millis(last - now))
end

-- Tells the client of a claim something, on the client's own channel.
local function publish(client, message)
  call('PUBLISH', match(KEYS[1], '^[^{]*') .. 'to:' .. client, message)
end

local function tell(id, what, more)
  publish(match(id, '^(.*)%.'), what .. ' ' .. id .. more)
end

local function remember(refused, id, deadline)
  if deadline >= now then
    call('ZREMRANGEBYSCORE', refused, '-inf', '(' .. clock)
    call('ZADD', refused, text(deadline), id)
    local last = call('ZREVRANGE', refused, 0, 0, 'WITHSCORES')[2]
    call('PEXPIREAT', refused, text(math.ceil(tonumber(last) / 1000) + 1))
  end
end

local function remembers(refused, id)
  local deadline = call('ZSCORE', refused, id)
  return deadline and tonumber(deadline) >= now
end

local function remember_if_stray(name, id, stray, terms)
  if stray == '1' then
    remember(name.refused, id, parse(terms).deadline)
  end
end

-- ---- Answers ----

local function granted(held)
  return table.concat({
    'G', held.token, text(held.block), text(held.expires - now), held.confirmed, clock,
  }, ' ')
end

local function refused(why, detail)
  return table.concat({ 'R', why, clock, detail }, ' ')
end

-- In the queue. All look again when the name may open, the head at once and the others one after the other: those ahead may
-- be dead.
local function queued(name, id, patience)
  local ahead = call('ZRANK', name.places, id)
  local opens = #name.holders == 0 and name.closed or math.huge
  for _, held in ipairs(name.holders) do
    opens = min(opens, held.expires)
  end
  local wait = min(math.floor(patience / 3), max(0, opens - now) + ahead * BETWEEN_LOOKS)
  return table.concat({ 'Q', text(ahead), text(wait), clock }, ' ')
end

-- ---- The rules ----

local function find(name, id)
  for i, held in ipairs(name.holders) do
    if held.id == id then
      return held, i
    end
  end
end

-- Takes a claim out of the queue: its MODE, STRAY and TERMS, or nothing.
local function unqueue(name, id)
  local entry = name.place > 0 and call('HGET', name.queued, id)
  if entry then
    call('HDEL', name.queued, id)
    call('ZREM', name.places, id)
    call('ZREM', name.limits, id)
    return match(entry, '^(%S+) (%S+) (.*)$')
  end
end

local function drop(name, id)
  local _, stray, terms = unqueue(name, id)
  if stray then
    remember_if_stray(name, id, stray, terms)
  end
end

local function is_open(name, mode, terms)
  if now < name.closed then
    return false
  end
  if mode == 'X' then
    return #name.holders == 0
  end
  local taken = 0
  for _, held in ipairs(name.holders) do
    if mode == 'S' and held.mode ~= 'S' then
      return false
    end
    taken = taken + tonumber(match(held.terms, '^%d+'))
  end
  return mode == 'S' or taken + terms.permits <= terms.limit
end

local function admit(name, id, mode, stray, words, terms, lease, confirmed)
  local token, block = draw(name.floor, max(1, terms.block))
  local held = {
    id = id, mode = mode, stray = stray, token = token, block = block, since = clock, expires = now + lease,
    confirmed = confirmed, recalled = -1, terms = words,
  }
  name.holders[#name.holders + 1] = held
  name.changed = true
  return held
end

-- Lets in whoever can be let in, from the head of the queue on.
local function hand_over(name)
  while name.place > 0 do
    local id = call('ZRANGE', name.places, 0, 0)[1]
    if not id then
      name.place, name.keep, name.changed = 0, 0, true
      return
    end
    local mode, stray, words = match(call('HGET', name.queued, id) or '', '^(%S+) (%S+) (.*)$')
    if not mode then
      call('ZREM', name.places, id)
      call('ZREM', name.limits, id)
    else
      local terms = parse(words)
      if not is_open(name, mode, terms) then
        return
      end
      unqueue(name, id)
      local held = admit(name, id, mode, stray, words, terms, terms.first, '0')
      tell(id, 'G', match(granted(held), '^G(.*)$'))
    end
  end
end

-- Until when the name stays closed after this hold, if it ends by expiry.
local function closed_after(held)
  if held.recalled >= 0 then
    return held.expires + held.recalled
  end
  return held.confirmed == '1' and held.expires + parse(held.terms).delay or 0
end

local function expire(name, held)
  name.closed = max(name.closed, closed_after(held))
  if held.recalled < 0 and held.confirmed == '0' and name.place > 0 then
    -- The client never took its grant up, so it is dead or cut off: do not try its other claims one by one.
    local client = match(held.id, '^(.*%.)')
    for _, id in ipairs(call('ZRANGE', name.places, 0, -1)) do
      if string.sub(id, 1, #client) == client then
        drop(name, id)
      end
    end
  end
  remember_if_stray(name, held.id, held.stray, held.terms)
  tell(held.id, 'L', held.recalled >= 0 and ' BROKEN' or ' EXPIRED')
end

-- Ends what is overdue, and lets in whoever can be let in then.
local function catch_up(name)
  local holders = name.holders
  local alive = {}
  name.holders = alive
  for _, held in ipairs(holders) do
    if held.expires > now then
      alive[#alive + 1] = held
    end
  end
  if #alive < #holders then
    name.changed = true
    for _, held in ipairs(holders) do
      if held.expires <= now then
        expire(name, held)
      end
    end
  end
  if name.place > 0 then
    local overdue = call('ZRANGEBYSCORE', name.limits, '-inf', clock)
    for _, id in ipairs(overdue) do
      drop(name, id)
    end
    -- Nothing else opens a name; once all claims are overdue, their keys may be gone already.
    if #alive < #holders or #overdue > 0 or #alive == 0 or name.closed > 0 or name.keep <= now then
      hand_over(name)
    end
  end
end

-- Keeps the keys of the queue until then at least.
local function keep(name, id, till, stray, terms)
  call('ZADD', name.limits, text(till), id)
  local last = max(till, stray == '1' and terms.deadline or 0)
  if last > name.keep then
    name.keep, name.changed = last, true
    for _, key in ipairs({ name.places, name.limits, name.queued }) do
      call('PEXPIREAT', key, millis(last))
    end
  end
end

-- Where a claim that is known already stands; nothing when it is not.
local function standing(name, id, stray)
  local held = find(name, id)
  if held then
    held.stray = stray == '1' and '1' or held.stray
    name.changed = true -- written in any case, so that who waits for replicas waits for this, too
    return granted(held)
  end
  local entry = name.place > 0 and call('HGET', name.queued, id)
  if entry then
    local words = match(entry, '^%S+ %S+ (.*)$')
    local terms = parse(words)
    if stray == '1' and not match(entry, '^%S+ 1') then
      call('HSET', name.queued, id, match(entry, '^%S+') .. ' 1 ' .. words)
      keep(name, id, tonumber(call('ZSCORE', name.limits, id)), stray, terms)
    end
    return queued(name, id, terms.patience)
  end
end

-- Ends a hold, or acknowledges that it is broken; whether there is one.
local function finish(name, id, stray, deadline)
  if stray == '1' then
    remember(name.refused, id, deadline)
  end
  local held, i = find(name, id)
  if not held then
    return false
  end
  table.remove(name.holders, i)
  name.changed = true
  remember_if_stray(name, id, held.stray, held.terms)
  if held.recalled >= 0 then
    name.closed = max(name.closed, now + held.recalled)
  end
  hand_over(name)
  return true
end

-- Whether a hold has this token.
local function covers(held, token)
  if held.block == 1 then
    return held.token == token
  end
  local ahead = tonumber(token) - tonumber(held.token) -- blocks are given below 2^53 only
  return ahead >= 0 and ahead < held.block
end
