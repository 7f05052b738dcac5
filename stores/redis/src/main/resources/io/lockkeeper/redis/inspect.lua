-- What there is of a name; changes nothing.
-- KEYS: names, floor, refused of the bucket; places, limits, ends, entries of the name.
-- ARGV: code of the name.
-- Answer: the time; until when the name is closed; how many wait; 'MODE LIMIT' of the first of them, or ''; the line of each
--   holder. Nothing but the time, when there is no record.

local record = call('HGET', names, ARGV[1])
if not record then
  return { clock }
end
local name = load(ARGV[1], record, 4)
local first = ''
local waiting = 0
if name.waiting > 0 then
  waiting = call('ZCOUNT', name.limits, '(' .. clock, '+inf')
  for _, id in ipairs(call('ZRANGE', name.places, 0, -1)) do
    if tonumber(call('ZSCORE', name.limits, id) or 0) > now then
      local _, entry = look(name, id)
      first = entry and entry.mode .. ' ' .. entry.limit or ''
      break
    end
  end
end
local answer = { clock, text(name.closed), waiting, first }
if name.sole then
  answer[5] = name.sole.line
elseif name.crowd > 0 then
  for _, id in ipairs(call('ZRANGE', name.ends, 0, -1)) do
    answer[#answer + 1] = call('HGET', name.entries, id) or nil
  end
end
return answer
