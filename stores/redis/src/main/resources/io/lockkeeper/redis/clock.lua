-- The clock. It comes before each script.

local call = redis.call
local match = string.match
local format = string.format
local max = math.max
local names = KEYS[1]

-- Times are microseconds of this server's clock, far below 2^53. Tokens need not be: they are compared and kept as text.
local clock = call('TIME')
local now = clock[1] * 1000000 + clock[2]
clock = format('%.0f', now)
