-- What there is of a name; changes nothing.
-- KEYS: record, places, limits, queued of the name.
-- Answer: the time; how many wait; 'MODE STRAY TERMS' of the first of them, or ''; the record, or nothing at all after the time.

local record = call('GET', KEYS[1])
if not record then
  return { clock }
end
local first = ''
for _, id in ipairs(call('ZRANGE', KEYS[2], 0, -1)) do
  if tonumber(call('ZSCORE', KEYS[3], id) or 0) > now then
    first = call('HGET', KEYS[4], id) or ''
    break
  end
end
return { clock, call('ZCOUNT', KEYS[3], '(' .. clock, '+inf'), first, record }
