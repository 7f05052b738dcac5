-- A name as it is found, and how it is written back: the rest of what format.lua describes. A step loads the names that it
-- concerns, changes them by the rules, and saves them.

-- How long the record of a name matters because of a hold.
local function matters(held)
  local last = held.expires + max(tonumber(held.delay), held.recalled)
  return held.stray == '1' and max(last, tonumber(held.deadline)) or last
end

local function read_hold(found)
  local expires, recalled, stray, confirmed, limit, id, mode, token, block, since, tail, delay, deadline, permits =
    match(found, HOLD)
  if not id then
    error('LKDAMAGED')
  end
  return {
    id = id, mode = mode, stray = stray, token = token, block = tonumber(block), since = since,
    expires = tonumber(expires), confirmed = confirmed, recalled = tonumber(recalled), delay = delay, deadline = deadline,
    permits = permits, limit = limit, tail = tail, line = found,
  }
end

local function hold_text(held)
  return text(held.expires) .. ' ' .. text(held.recalled) .. ' ' .. held.stray .. ' ' .. held.confirmed .. ' '
    .. write_rest(held.limit, held.id, held.mode, held.token, held.block, held.since, held.tail)
end

local function read_entry(found)
  local mode, stray, first, patience, block, limit, tail, delay, deadline, permits = match(found, ENTRY)
  if not mode then
    error('LKDAMAGED')
  end
  return {
    mode = mode, stray = stray, first = tonumber(first), patience = tonumber(patience), block = tonumber(block),
    delay = delay, deadline = deadline, permits = permits, limit = limit, tail = tail,
  }
end

local function entry_text(entry)
  return write_entry(
    entry.mode, entry.stray, text(entry.first), text(entry.patience), entry.block, entry.limit, entry.tail
  )
end

-- The name with this code and record, whose own keys begin with the kth.
local function load(code, record, k)
  local name = {
    code = code, places = KEYS[k], limits = KEYS[k + 1], ends = KEYS[k + 2], entries = KEYS[k + 3],
    closed = 0, waiting = 0, began = 0, place = 0, lapses = 0, kept = 0, crowd = 0, taken = 0, limit = 0, gone = 0,
    known = record, changed = false,
  }
  if record then
    local last, more, hold = match(record, RECORD)
    if not last then
      unreadable(record)
    end
    if hold ~= '' then
      name.sole = read_hold(hold)
    end
    if more ~= '' then
      local closed, waiting, began, place, lapses, kept, crowd, taken, limit, gone =
        match(more, MORE)
      if not gone then
        error('LKDAMAGED')
      end
      name.closed, name.waiting, name.began, name.place = tonumber(closed), tonumber(waiting), tonumber(began), tonumber(place)
      name.lapses, name.kept, name.crowd, name.taken = tonumber(lapses), tonumber(kept), tonumber(crowd), tonumber(taken)
      name.limit, name.gone = tonumber(limit), tonumber(gone)
    end
  end
  return name
end

-- Writes back what has changed. What is no longer touched expires, once it can have no effect.
local function save(name)
  if not name.changed then
    return
  end
  local sole, closed = name.sole, name.closed > now and name.closed or 0
  local more = closed > 0 or name.waiting > 0 or name.crowd > 0
  if not sole and not more then
    if name.known then
      call('HDEL', names, name.code)
    end
    return
  end
  if name.crowd == 0 then
    name.limit, name.gone = 0, 0
  end
  local last = max(closed, name.waiting > 0 and name.kept or 0, name.crowd > 0 and name.gone or 0)
  if sole then
    last = max(last, matters(sole))
  end
  local rest = more
    and write_more(
      text(closed), name.waiting, text(name.began), text(name.place), text(name.lapses), text(name.kept), name.crowd,
      text(name.taken), text(name.limit), text(name.gone)
    )
  put(name.code, write_record(last, rest or '', sole and (sole.line or hold_text(sole)) or ''), last)
  if not name.known then
    sweep()
  end
end

-- ---- Holders ----

local function is_free(name)
  return not name.sole and name.crowd == 0
end

-- A hold of the crowd, written.
local function write_in_crowd(name, held)
  call('HSET', name.entries, held.id, hold_text(held))
  call('ZADD', name.ends, held.expires, held.id)
  local last = matters(held)
  if last > name.gone then
    name.gone, name.changed = last + SLACK, true
    call('PEXPIREAT', name.ends, millis(name.gone))
    call('PEXPIREAT', name.entries, millis(max(name.gone, name.waiting > 0 and name.kept or 0)))
  end
end

-- Drops the lines of a crowd of which the rest is gone: its time is long over, or an operator has deleted it.
local function drop_lines(name)
  if name.waiting == 0 then
    call('DEL', name.entries)
    return
  end
  local cursor = '0'
  repeat
    local page = call('HSCAN', name.entries, cursor, 'COUNT', 200)
    cursor = page[1]
    for i = 1, #page[2], 2 do
      if match(page[2][i + 1], IS_HOLD) then
        call('HDEL', name.entries, page[2][i])
      end
    end
  until cursor == '0'
end

local function join_crowd(name, held)
  name.crowd, name.taken, name.limit = name.crowd + 1, name.taken + held.permits, tonumber(held.limit)
  write_in_crowd(name, held)
end

local function add_hold(name, held)
  name.changed = true
  if is_free(name) then
    name.sole = held
  else
    if name.sole then
      name.gone = 0
      -- What is left of a crowd whose record was deleted is not revived by this one.
      if call('DEL', name.ends) == 1 or name.waiting == 0 then
        drop_lines(name)
      end
      join_crowd(name, name.sole)
      name.sole = nil
    end
    join_crowd(name, held)
  end
end

-- To be called after a change of a hold.
local function hold_changed(name, held)
  if held == name.sole then
    held.line, name.changed = nil, true
  else
    write_in_crowd(name, held)
  end
end

-- Writes a hold that has not changed.
local function write_again(name, held)
  if held == name.sole then
    name.changed = true
  else
    call('HSET', name.entries, held.id, held.line)
  end
end

local function remove_hold(name, held)
  name.changed = true
  if held == name.sole then
    name.sole = nil
  else
    call('HDEL', name.entries, held.id)
    call('ZREM', name.ends, held.id)
    name.crowd, name.taken = name.crowd - 1, name.taken - held.permits
    if name.crowd <= 0 then
      name.crowd, name.taken = 0, 0
    end
  end
end

-- All holds of the crowd. What was deleted by hand is missing, and does not count from now on.
local function crowd(name)
  local ids = call('ZRANGE', name.ends, 0, -1)
  local all = {}
  name.crowd, name.taken, name.changed = 0, 0, true
  for _, id in ipairs(ids) do
    local found = call('HGET', name.entries, id)
    if found then
      local held = read_hold(found)
      all[#all + 1] = held
      name.crowd, name.taken = name.crowd + 1, name.taken + held.permits
    else
      call('ZREM', name.ends, id)
    end
  end
  return all
end

-- When the first hold expires; never, when there is none.
local function first_end(name)
  if name.sole then
    return name.sole.expires
  end
  if name.crowd == 0 then
    return math.huge
  end
  local first = call('ZRANGE', name.ends, 0, 0, 'WITHSCORES')[2]
  if not first then
    name.crowd, name.taken, name.changed = 0, 0, true
    drop_lines(name)
    return math.huge
  end
  return tonumber(first)
end

-- The holds that have expired, taken away.
local function take_expired(name)
  if name.sole then
    local held = name.sole
    remove_hold(name, held)
    return { held }
  end
  local expired = {}
  for _, id in ipairs(call('ZRANGEBYSCORE', name.ends, '-inf', clock)) do
    local found = call('HGET', name.entries, id)
    if not found then
      crowd(name)
    else
      expired[#expired + 1] = read_hold(found)
      remove_hold(name, expired[#expired])
    end
  end
  return expired
end

-- ---- The queue ----

-- What a claim has here: its hold or its entry in the queue, or neither. A line of a hold that is over, or not among the ends of
-- the crowd, is not counted and so means nothing.
local function look(name, id)
  if name.sole and name.sole.id == id then
    return name.sole
  end
  local found = (name.crowd > 0 or name.waiting > 0) and call('HGET', name.entries, id)
  if not found then
    return nil
  elseif match(found, IS_HOLD) then
    local held = name.crowd > 0 and call('ZSCORE', name.ends, id) and read_hold(found)
    return held and held.expires > now and held or nil
  end
  return nil, read_entry(found)
end

local function keep_queue(name, last)
  if last > name.kept then
    name.kept, name.changed = last + SLACK, true
    call('PEXPIREAT', name.places, millis(name.kept))
    call('PEXPIREAT', name.limits, millis(name.kept))
    call('PEXPIREAT', name.entries, millis(max(name.kept, name.crowd > 0 and name.gone or 0)))
  end
end

-- Makes a queued claim lapse at a time, and not before.
local function set_limit(name, id, limit, stray, deadline)
  call('ZADD', name.limits, limit, id)
  if limit < name.lapses then
    name.lapses, name.changed = limit, true
  end
  keep_queue(name, stray == '1' and max(limit, tonumber(deadline)) or limit)
end

local function enqueue(name, id, entry)
  if name.waiting == 0 then
    name.began, name.lapses, name.kept = max(now, name.place + 1), math.huge, 0
    name.place = name.began
  else
    name.place = max(now, name.place + 1)
  end
  name.waiting, name.changed = name.waiting + 1, true
  call('HSET', name.entries, id, entry_text(entry))
  call('ZADD', name.places, name.place, id)
  set_limit(name, id, now + entry.patience, entry.stray, entry.deadline)
end

local function unqueue(name, id)
  call('HDEL', name.entries, id)
  call('ZREM', name.places, id)
  call('ZREM', name.limits, id)
  name.waiting, name.changed = max(0, name.waiting - 1), true
end

-- The head of the queue: its id and entry. What was deleted by hand is skipped.
local function head(name)
  while name.waiting > 0 do
    local first = call('ZRANGE', name.places, 0, 0, 'WITHSCORES')
    local id = first[1]
    if not id then
      name.waiting, name.changed = 0, true
      return nil
    end
    local found = tonumber(first[2]) >= name.began and call('HGET', name.entries, id)
    if found then
      return id, read_entry(found)
    end
    call('ZREM', name.places, id)
    call('ZREM', name.limits, id)
    name.waiting, name.changed = max(0, call('ZCARD', name.places)), true
  end
end

-- The ids of the queued claims that have lapsed.
local function lapsed(name)
  if name.waiting == 0 or now < name.lapses then
    return {}
  end
  local ids = call('ZRANGEBYSCORE', name.limits, '-inf', clock)
  local next = call('ZRANGEBYSCORE', name.limits, '(' .. clock, '+inf', 'WITHSCORES', 'LIMIT', 0, 1)[2]
  name.lapses, name.changed = tonumber(next or now), true
  if not next then
    name.waiting = #ids -- the others, if there should be any, have expired with their keys
  end
  return ids
end
