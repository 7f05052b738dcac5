-- Who holds a name; changes nothing. It is given only keys that exist, because a Cluster that moves the slot runs no script with a
-- key that does not.
-- KEYS: names of the bucket; ends, entries of the name, if a crowd holds it.
-- ARGV: code of the name.
-- Answer: as that of inspect.lua, without the queue; 'M' when a crowd holds it and its keys are not given.

local record = call('HGET', names, ARGV[1])
if not record then
  return { clock }
end
local _, more, hold = match(record, RECORD)
if more and hold ~= '' then
  return { clock, '0', 0, '', hold }
end
local _, _, _, _, _, _, crowd = match(more or '', MORE)
if not crowd then
  unreadable(record)
end
if crowd == '0' then
  return { clock }
end
if not KEYS[3] then
  return 'M'
end
local answer = { clock, '0', 0, '' }
for _, id in ipairs(call('ZRANGE', KEYS[2], 0, -1)) do
  answer[#answer + 1] = call('HGET', KEYS[3], id) or nil
end
return answer
