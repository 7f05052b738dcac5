-- Renews holds that are alone in having their names, by rewriting their records; the others are left to renew.lua. Claims may
-- be queued behind such a hold, as long as none has lapsed.
-- KEYS: names of the bucket.
-- ARGV: of each hold: code of the name, id, lease.
-- Answer: the time; then of each hold 'K REMAINING', or 'M' when it is not so simple.

local function extend(code, record, id, lease)
  local more, expires, rest, holder, delay = match(record, TO_EXTEND)
  expires = tonumber(expires)
  if holder ~= id or expires <= now then
    return 'M'
  end
  local waiting, _, _, lapses, kept = queue_behind(more)
  if not waiting or waiting ~= '0' and tonumber(lapses) <= now then
    return 'M'
  end
  expires = max(expires, now + lease)
  local last = max(expires + delay, tonumber(kept))
  put(code, write_sole(last, more, expires, '1', rest), last)
  return 'K ' .. text(expires - now)
end

local codes = {}
for i = 1, #ARGV, 3 do
  codes[#codes + 1] = ARGV[i]
end
local found = fetch(unpack(codes))
local answers = { clock }
for i = 1, #codes do
  local record = found[i + 3]
  answers[i + 1] = record and extend(codes[i], record, ARGV[3 * i - 1], ARGV[3 * i]) or 'M'
end
return answers
