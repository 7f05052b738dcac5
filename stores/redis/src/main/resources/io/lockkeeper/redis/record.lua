-- The record of a name: how it is kept, and the place that reads and writes it, with name.lua, and with NameSnapshot.java, which reads it
-- for people. Only claim_free.lua and release_free.lua come before it, and know the shortest form: what they do is done most, and
-- to define functions costs as much as the rest of it.
-- All that is kept of the names of a bucket, and the keys that each script is given first:
--   KEYS[1]  names    hash: the name's code to its record. This is the index of the names in use, too. Its fields that
--                     begin with '!' are no names: '!till', when the hash expires; '!refused', until when some id is refused;
--                     '!sweep', when to look next for what vanished clients have left; '!cursor', how far that has come;
--                     '!broken ID', of a hold that was broken at once: 'FORMAT LAST', when its lease would have ended
--   KEYS[2]  floor    string, never expires: the largest token given so far
--   KEYS[3]  refused  sorted set: ids that must not be carried out any more, by the deadline until which that matters
-- A record is two lines of words, for a name that one claim holds and nobody waits for:
--   'FORMAT LAST'
--   'EXPIRES RECALLED STRAY CONFIRMED LIMIT ID MODE TOKEN BLOCK SINCE DELAY DEADLINE PERMITS CLIENT LABEL', the holder
-- LAST: when the record means nothing any more. RECALLED: the lock-delay after a hold that is being broken, otherwise -1.
-- Anything more is in the first line and in keys that exist only then. The first line is
--   'FORMAT LAST CLOSED WAITING BEGAN PLACE LAPSES KEPT CROWD TAKEN LIMIT GONE'
-- CLOSED: until when the name is closed. WAITING: how many claims are queued. BEGAN, PLACE: the first and the last place given.
-- LAPSES: no queued claim lapses before that. KEPT: when the keys of the queue expire. CROWD: how many hold the name, if it was
-- ever more than one since it was free: they are in their own keys then, and there is no second line. TAKEN: how many permits
-- they have. LIMIT: of the semaphore, 0 for a lock. GONE: when the keys of the crowd expire.
-- The keys of a name:
--   places    sorted set: id of the queued claim by its place; the smallest is the next
--   limits    sorted set: id of the queued claim by the time at which it lapses unless it is refreshed
--   ends      sorted set: id of a hold of the crowd by the time at which it expires
--   entries   hash: of a queued claim, id to 'MODE STRAY FIRST PATIENCE BLOCK LIMIT TAIL', where TAIL are the words of the line of a
--             hold from DELAY on; of a hold of the crowd, id to its line

local FORMAT = '2'
local SLACK = 2000000 -- keys expire later than they must by this much, so that they need not be told each time

local till, refused_till, sweep_at

-- A whole number as text; tostring would say 1.7e+15. Redis itself writes out numbers that it is passed.
local function text(number)
  return format('%.0f', number)
end

-- Whether one number is less than another, both as text.
local function less(a, b)
  return #a < #b or (#a == #b and a < b)
end

-- A token, and how many more the holder may use. A hybrid of clock and counter, so that they rise even if the floor is lost; a
-- block while the clock is ahead.
local function draw(floor, wanted)
  if less(call('GET', floor) or '0', clock) then
    call('SET', floor, now + wanted - 1)
    return clock, wanted
  end
  call('INCR', floor)
  return call('GET', floor), 1
end

-- When a key may go, in milliseconds: a second after the time in question.
local function millis(micros)
  return math.ceil(micros / 1000) + 1000
end

-- Takes the answer to what fetch asks for.
local function take(found)
  till, refused_till, sweep_at = tonumber(found[1] or 0), tonumber(found[2] or 0), tonumber(found[3] or 0)
  return found
end

-- The records with these codes, from the fourth on, as they are stored.
local function fetch(...)
  return take(call('HMGET', names, '!till', '!refused', '!sweep', ...))
end

-- Keeps the hash of the bucket at least until then.
local function keep_bucket(last)
  if last > till then
    if till == 0 then
      sweep_at = now + SLACK
      call('HSET', names, '!sweep', sweep_at)
    end
    till = last + SLACK
    call('HSET', names, '!till', till)
    call('PEXPIREAT', names, millis(till))
  end
end

local function put(code, record, last)
  call('HSET', names, code, record)
  keep_bucket(last)
end

-- Removes what vanished clients have left in the bucket, a page at a time, if that is due.
local function sweep()
  if now < sweep_at then
    return
  end
  local page = call('HSCAN', names, call('HGET', names, '!cursor') or '0', 'COUNT', 200)
  local dead = {}
  for i = 2, #page[2], 2 do
    local last = match(page[2][i], '^2 (%d+)')
    if last and last + 1000000 < now then
      dead[#dead + 1] = page[2][i - 1]
    end
  end
  if #dead > 0 then
    call('HDEL', names, unpack(dead))
  end
  if page[1] == '0' then
    call('HDEL', names, '!cursor')
    call('HSET', names, '!sweep', now + max(SLACK, 10000 * call('HLEN', names))) -- rarely, where there is much to look at
  else
    call('HSET', names, '!cursor', page[1])
  end
end

-- The line of a hold; TAIL are its words from DELAY on.
local function line(expires, recalled, stray, confirmed, limit, id, mode, token, block, since, tail)
  return text(expires) .. ' ' .. recalled .. ' ' .. stray .. ' ' .. confirmed .. ' ' .. limit .. ' ' .. id .. ' ' .. mode
    .. ' ' .. token .. ' ' .. block .. ' ' .. since .. ' ' .. tail
end

-- The record of a name that one claim holds: its line, what LAST is without the queue, and the queue, if there is one.
local function record_of(hold, last, waiting, began, place, lapses, kept)
  if waiting == 0 then
    return '2 ' .. text(last) .. '\n' .. hold, last
  end
  last = max(last, tonumber(kept))
  return '2 ' .. text(last) .. ' 0 ' .. waiting .. ' ' .. began .. ' ' .. place .. ' ' .. lapses .. ' ' .. kept .. ' 0 0 0 0\n'
    .. hold, last
end

-- When a queued claim looks again: when the name may open, the head at once and the others one after the other, for those ahead
-- may be dead; and from time to time in any case.
local function wait(patience, opens, ahead)
  return math.min(math.floor(patience / 3), max(0, opens - now) + ahead * 100000)
end

-- Tells a client something, on its own channel.
local function publish(client, message)
  call('PUBLISH', match(names, '^[^{]*') .. 'to:' .. client, message)
end

-- Tells the client of a claim that something has happened to it: the client asks what, for anybody may have sent this.
local function tell(id)
  publish(match(id, '^(.*)%.'), 'C ' .. id)
end

-- What a record says of the queue behind a single holder, if that is so simple; all as text.
local function queue_behind(record)
  local waiting, began, place, lapses, kept = match(record, '^2 %d+ 0 (%d+) (%d+) (%d+) (%d+) (%d+) 0 0 0 0\n')
  if not waiting and match(record, '^2 %d+\n') then
    return '0', '0', '0', '0', '0'
  end
  return waiting, began, place, lapses, kept
end
