-- The rules: who holds a name, who waits, and how that changes. They are those of the reference model.

local SHORTEST_SILENCE = 1000000 -- as in Terms.allowedSilence

-- Refuses an id until its deadline.
local function remember(id, deadline)
  deadline = tonumber(deadline)
  if deadline >= now then
    call('ZREMRANGEBYSCORE', KEYS[3], '-inf', '(' .. clock)
    call('ZADD', KEYS[3], deadline, id)
    if deadline > refused_till then
      refused_till = deadline
      call('PEXPIREAT', KEYS[3], millis(deadline))
      call('HSET', names, '!refused', deadline)
      keep_bucket(deadline)
    end
  end
end

local function remembers(id)
  local deadline = refused_till >= now and call('ZSCORE', KEYS[3], id)
  return deadline and tonumber(deadline) >= now
end

local function remember_if_stray(id, claim)
  if claim.stray == '1' then
    remember(id, claim.deadline)
  end
end

-- ---- Answers ----

local function granted(held)
  return 'G ' .. held.token .. ' ' .. held.block .. ' ' .. text(held.expires - now) .. ' ' .. held.confirmed .. ' ' .. clock
end

local function refused(why, detail)
  return 'R ' .. why .. ' ' .. clock .. (detail and ' ' .. detail or '')
end

local function queued(name, ahead, patience)
  local opens = is_free(name) and name.closed or first_end(name)
  return 'Q ' .. ahead .. ' ' .. text(wait(patience, opens, ahead)) .. ' ' .. clock
end

-- ---- The rules ----

local function is_open(name, claim)
  if now < name.closed then
    return false
  end
  local sole, mode = name.sole, claim.mode
  if mode == 'X' then
    return not sole and name.crowd == 0
  elseif mode == 'S' then
    return not sole or sole.mode == 'S' -- a crowd shares
  end
  return (sole and sole.permits or name.taken) + claim.permits <= tonumber(claim.limit)
end

local function admit(name, id, claim, lease, confirmed)
  local token, block = draw(KEYS[2], claim.block)
  local held = {
    id = id, mode = claim.mode, stray = claim.stray, token = token, block = block, since = clock, expires = now + lease,
    confirmed = confirmed, recalled = -1, delay = claim.delay, deadline = claim.deadline, permits = claim.permits,
    limit = claim.limit, tail = claim.tail,
  }
  add_hold(name, held)
  return held
end

-- Admits those that can be admitted, from the head of the queue on.
local function hand_over(name)
  while name.waiting > 0 and not (name.sole and name.sole.mode == 'X') do
    local id, entry = head(name)
    if not id or not is_open(name, entry) then
      return
    end
    unqueue(name, id) -- first: a full server allows a script to write only after it has deleted something
    admit(name, id, entry, entry.first, '0')
    tell(id)
  end
end

local function drop(name, id, entry)
  unqueue(name, id)
  remember_if_stray(id, entry)
end

-- Until when the name stays closed after this hold, if it ends by expiry.
local function closed_after(held)
  if held.recalled >= 0 then
    return held.expires + held.recalled
  end
  return held.confirmed == '1' and held.expires + held.delay or 0
end

-- Drops the queued claims of a client whose grant was never taken up, which is therefore dead or cut off, and those of clients that
-- have been silent since: they must not be tried one by one.
local function drop_silent(name, held)
  local client = match(held.id, '^(.*%.)')
  local since = tonumber(held.since)
  local waiting = call('ZRANGE', name.limits, 0, -1, 'WITHSCORES')
  for i = 1, #waiting, 2 do
    local id = waiting[i]
    local _, entry = look(name, id)
    if entry then
      local refreshed = waiting[i + 1] - entry.patience
      local is_silent = refreshed <= since and now - refreshed >= max(SHORTEST_SILENCE, entry.first)
      if is_silent or string.sub(id, 1, #client) == client then
        drop(name, id, entry)
      end
    end
  end
end

local function expire(name, held)
  name.closed, name.changed = max(name.closed, closed_after(held)), true
  if held.recalled < 0 and held.confirmed == '0' and name.waiting > 0 then
    drop_silent(name, held)
  end
  remember_if_stray(held.id, held)
  tell(held.id)
end

-- Ends what is overdue, and admits those that can be admitted then.
local function catch_up(name)
  local opens = false
  if first_end(name) <= now then
    for _, held in ipairs(take_expired(name)) do
      expire(name, held)
    end
    opens = true
  end
  if name.waiting > 0 then
    for _, id in ipairs(lapsed(name)) do
      local _, entry = look(name, id)
      if entry then
        drop(name, id, entry)
      else
        unqueue(name, id)
      end
      opens = true
    end
    -- Nothing else opens a name.
    if opens or is_free(name) or name.closed > 0 then
      hand_over(name)
    end
  end
end

-- Where a claim that is known already stands; nil if it is not known, or if part of it was deleted by hand.
local function standing(name, id, stray)
  local held, entry = look(name, id)
  local ahead = entry and call('ZRANK', name.places, id)
  if held then
    if stray == '1' and held.stray == '0' then
      held.stray = '1'
      hold_changed(name, held)
    else
      write_again(name, held) -- so that a client that waits for replicas waits for this, too
    end
    return granted(held)
  elseif entry and not ahead then
    unqueue(name, id)
  elseif entry then
    if stray == '1' and entry.stray == '0' then
      entry.stray = '1'
      call('HSET', name.entries, id, entry_text(entry))
      keep_queue(name, tonumber(entry.deadline))
    end
    return queued(name, ahead, entry.patience)
  end
end

-- Remembers that a hold was broken immediately, for as long as its client may ask why it is gone.
local function remember_broken(held)
  put('!broken ' .. held.id, write_record(held.expires, '', ''), held.expires)
end

local function was_broken(id)
  local last = match(call('HGET', names, '!broken ' .. id) or '', LAST)
  return last and tonumber(last) > now
end

-- Ends a hold, or acknowledges that it is broken; whether there is one.
local function finish(name, held)
  remove_hold(name, held)
  remember_if_stray(held.id, held)
  if held.recalled >= 0 then
    name.closed = max(name.closed, now + held.recalled)
  end
  hand_over(name)
end
