-- Claims a name.
-- KEYS: record, places, limits, queued of the name; floor, refused of its bucket.
-- ARGV: id, mode, stray (0, 1), whether to queue (0, 1), terms.
-- Answer: 'G TOKEN BLOCK REMAINING CONFIRMED AT', 'Q AHEAD RETRY-AFTER AT' or 'R WHY AT …'.

local id, mode, stray, queues, words = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local terms = parse(words)

local function use(name)
  local held = name.holders[1]
  if held then
    return held.mode, parse(held.terms).limit
  end
  local first = name.place > 0 and call('ZRANGE', name.places, 0, 0)[1]
  local entry = first and call('HGET', name.queued, first)
  if entry then
    return match(entry, '^%S+'), tonumber(match(entry, '^%S+ %S+ %d+ (%d+)'))
  end
end

local function why_busy(name)
  local held = name.holders[1]
  if held then
    return 'held ' .. parse(held.terms).client .. ' ' .. text(now - tonumber(held.since))
  end
  return name.closed > now and 'closed' or 'awaited'
end

local function enter(name)
  local mode_in_use, limit = use(name)
  if limit and (limit ~= terms.limit or (mode_in_use == 'P') ~= (mode == 'P')) then
    return refused('CONFLICT', mode_in_use == 'P' and 'semaphore ' .. text(limit) or 'lock')
  end
  if name.place == 0 and is_open(name, mode, terms) then
    return granted(admit(name, id, mode, stray, words, terms, terms.lease, '1'))
  end
  if queues == '0' then
    return refused('BUSY', why_busy(name))
  end
  name.place, name.changed = name.place + 1, true
  call('ZADD', name.places, text(name.place), id)
  call('HSET', name.queued, id, mode .. ' ' .. stray .. ' ' .. words)
  keep(name, id, now + terms.patience, stray, terms)
  return queued(name, id, terms.patience)
end

local name = load(1, 5)
catch_up(name)
local answer = standing(name, id, stray)
if not answer then
  if remembers(name.refused, id) then
    answer = refused('GONE')
  elseif terms.deadline < now then
    answer = refused('LATE')
  else
    answer = enter(name)
  end
end
save(name)
return answer
