-- Tries each command that the scripts use, and leaves nothing: a command that is denied must not be discovered in the middle of
-- a step.
-- KEYS: a string, a sorted set and a hash that nothing else uses.

local s, z, h = KEYS[1], KEYS[2], KEYS[3]
local failure

local function try(...)
  local answer = redis.pcall(...)
  if type(answer) == 'table' and answer.err and not failure then
    failure = answer
  end
end

try('SET', s, '1')
try('INCR', s)
try('GET', s)
try('EXISTS', s)
try('ZADD', z, 1, 'a')
try('PEXPIREAT', z, millis(now))
try('ZSCORE', z, 'a')
try('ZRANK', z, 'a')
try('ZCARD', z)
try('ZCOUNT', z, 0, 1)
try('ZRANGE', z, 0, 0)
try('ZRANGEBYSCORE', z, 0, 1)
try('ZREMRANGEBYSCORE', z, 2, 3)
try('ZREM', z, 'a')
try('HSET', h, 'a', 1)
try('HSETNX', h, 'b', 1)
try('HINCRBY', h, 'a', 1)
try('HGET', h, 'a')
try('HMGET', h, 'a')
try('HLEN', h)
try('HSCAN', h, 0)
try('HDEL', h, 'a')
try('PUBLISH', match(s, '^[^{]*') .. 'to:nobody', '')
try('DEL', s, z, h)
return failure or 1
