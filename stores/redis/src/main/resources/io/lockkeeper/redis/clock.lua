-- The clock. It comes before each script.

local call = redis.call
local match = string.match
local format = string.format
local max = math.max
local names = KEYS[1]

-- Times are microseconds of this server's clock, far below 2^53. Tokens need not be: they are compared and kept as text.
local clock = call('TIME')
local now = clock[1] * 1000000 + clock[2]

-- How a whole number is written; tostring would say 1.7e+15. '%d' takes a third of the time of '%.0f', but is exact only where a C
-- long has 64 bits. Elsewhere it writes the clock, which has 16 digits, with fewer.
local WHOLE = '%d'
clock = format(WHOLE, now)
if #clock < 16 then
  WHOLE = '%.0f'
  clock = format(WHOLE, now)
end
