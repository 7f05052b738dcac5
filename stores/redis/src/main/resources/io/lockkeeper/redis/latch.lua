-- A step on a latch. Its record is a hash of count and generation; a latch whose count is zero has none.
-- KEYS: names, floor, refused of the bucket; record of the latch; watchers: sorted set of the clients to notify, by when their
--   interest ends.
-- ARGV: 'look'; 'watch', client, for how long; 'set', id, deadline, count; or 'down', id, deadline, code of the name.
-- Answer: 'COUNT GENERATION OUTCOME AT'.

fetch()
local record, watchers = KEYS[4], KEYS[5]
local step, id = ARGV[1], ARGV[2]
local outcome = 'DONE'

local function set(count)
  if call('EXISTS', record) == 1 then
    outcome = 'UNCHANGED'
    remember('=' .. id, ARGV[3])
  else
    call('HSET', record, 'count', count, 'generation', (draw(KEYS[2], 1)), 'format', FORMAT)
  end
end

local function count_down(code)
  if call('EXISTS', record) == 1 and call('HINCRBY', record, 'count', -1) <= 0 then
    for _, client in ipairs(call('ZRANGEBYSCORE', watchers, clock, '+inf')) do
      publish(client, 'O ' .. code)
    end
    call('DEL', record, watchers)
  end
end

local format = call('HGET', record, 'format')
if format and format ~= FORMAT then
  error('LKFORMAT ' .. format)
end
if step == 'watch' then
  if call('EXISTS', record) == 1 then
    call('ZREMRANGEBYSCORE', watchers, '-inf', '(' .. clock)
    call('ZADD', watchers, now + ARGV[3], id)
  end
elseif step ~= 'look' then
  if remembers(id) then
    outcome = remembers('=' .. id) and 'UNCHANGED' or 'DONE'
  elseif tonumber(ARGV[3]) < now then
    outcome = 'LATE'
  else
    remember(id, ARGV[3])
    if step == 'set' then
      set(ARGV[4])
    else
      count_down(ARGV[4])
    end
  end
end
local state = call('HMGET', record, 'count', 'generation')
return table.concat({ state[1] or '0', state[2] or '0', outcome, clock }, ' ')
