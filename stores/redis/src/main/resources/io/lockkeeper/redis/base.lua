-- How things are kept, and the clock. Put before each step; behind it come the step's quick way, if it has one, the rules in
-- rules.lua, and the step itself.
--
-- A name in use has a record, and three keys beside it while claims are queued:
--   record    string: 'FORMAT CLOSED KEEP PLACE', then for each holder, in order of entry, a line
--             'ID MODE STRAY TOKEN BLOCK SINCE EXPIRES CONFIRMED RECALLED TERMS'
--   places    sorted set: id of the claim by its place; the smallest is the next
--   limits    sorted set: id of the claim by the time at which it vanishes unless it is refreshed
--   queued    hash: id of the claim to 'MODE STRAY TERMS'
-- TERMS are 'PERMITS LIMIT LEASE FIRST-LEASE LOCK-DELAY PATIENCE BLOCK DEADLINE CLIENT LABEL', as the client sent them.
-- The names of a bucket share two more:
--   floor     string, kept for ever: the largest token given so far
--   refused   sorted set: ids that are not to be carried out any more, by the deadline until which that matters
--
-- Times are microseconds of this server's clock, far below 2^53. Tokens need not be: they are compared and kept as strings.
-- CLOSED: until when the name is closed. KEEP: until when a queued claim may live. PLACE: the last one given, 0 when nobody
-- waits. MODE: X, S or P. RECALLED: the lock-delay to keep after a hold that is being broken, else -1.

local FORMAT = '1'
local call = redis.call
local match = string.match
local max = math.max

local clock = call('TIME')
clock = clock[1] .. string.format('%06d', clock[2])
local now = tonumber(clock)

-- A whole number as text; tostring would say 1.7e+15.
local function text(number)
  return string.format('%.0f', number)
end

-- Whether one number is less than another, both as text.
local function less(a, b)
  return #a < #b or (#a == #b and a < b)
end

-- Milliseconds, rounded up, and a second more: when a key may go.
local function millis(micros)
  return math.ceil(micros / 1000) + 1000
end

-- Tokens: a hybrid of clock and counter, so that they rise even if the floor is lost. A block while the clock is ahead.
local function draw(floor, wanted)
  if less(call('GET', floor) or '0', clock) then
    call('SET', floor, now + wanted - 1)
    return clock, wanted
  end
  call('INCR', floor)
  return call('GET', floor), 1
end
