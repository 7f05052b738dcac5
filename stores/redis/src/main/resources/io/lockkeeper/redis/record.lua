-- What steps do with records and with what is kept of their bucket. See format.lua for the form of records.

-- Keys expire later than they must by this much, so that their expiry need not be set each time.
local SLACK = 2000000

local till, refused_till, sweep_at

-- Whether one number is less than another, both as text.
local function less(a, b)
  return #a < #b or (#a == #b and a < b)
end

-- A token, and how many tokens from it on the holder may use: a block, as long as the clock is ahead of the floor. Tokens are a
-- hybrid of clock and counter, so that they rise even if the floor is lost.
local function draw(floor, wanted)
  if less(call('GET', floor) or '0', clock) then
    call('SET', floor, text(now + wanted - 1))
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
    local last = match(page[2][i], LAST)
    if last and last + 1000000 < now then
      dead[#dead + 1] = page[2][i - 1]
    end
  end
  if #dead > 0 then
    call('HDEL', names, unpack(dead))
  end
  if page[1] == '0' then
    call('HDEL', names, '!cursor')
    call('HSET', names, '!sweep', now + max(SLACK, 10000 * call('HLEN', names))) -- rarely, where there is much to read
  else
    call('HSET', names, '!cursor', page[1])
  end
end

-- The rest of the first line of a record that has nothing but a queue, if that is not empty; all as text but WAITING.
local function write_queue(waiting, began, place, lapses, kept)
  return waiting > 0 and write_more('0', waiting, began, place, lapses, kept, '0', '0', '0', '0') or ''
end

-- What the rest of the first line says of the queue behind a single holder, if it says nothing else; all as text.
local function queue_behind(more)
  if more == '' then
    return '0', '0', '0', '0', '0'
  end
  return match(more, ONLY_QUEUE)
end

-- Refuses a record that cannot be read.
local function unreadable(record)
  local number = match(record, '^%d+')
  error(number and number ~= FORMAT and 'LKFORMAT ' .. number or 'LKDAMAGED')
end

-- When a queued claim asks again: when the name may open, the head of the queue immediately and the others one after another,
-- because those ahead may be dead; and from time to time in any case.
local function wait(patience, opens, ahead)
  return math.min(math.floor(patience / 3), max(0, opens - now) + ahead * 100000)
end

-- Sends a client a message, on its own channel.
local function publish(client, message)
  call('PUBLISH', match(names, '^[^{]*') .. 'to:' .. client, message)
end

-- Notifies the client of a claim that something has happened to it. The client asks what it is, because any client may have sent
-- the message.
local function tell(id)
  publish(match(id, '^(.*)%.'), 'C ' .. id)
end
