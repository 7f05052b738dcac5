-- Renews holds that are alone in having their names, by rewriting their records; the others are left to renew.lua. Claims may
-- be queued behind such a hold, as long as none has lapsed.
-- KEYS: names of the bucket.
-- ARGV: of each hold: code of the name, id, lease.
-- Answer: the time; then of each hold 'K REMAINING', or 'M' when it is not so simple.

local function extend(code, record, id, lease)
  local more, expires, hold, holder, delay =
    match(record, '^2 %d+([^\n]*)\n(%d+) %-1 0 %d (%d+ (%S+) %a %d+ %d+ %d+ (%d+) .*)$')
  expires = tonumber(expires)
  if not expires or expires <= now or holder ~= id then
    return 'M'
  end
  local kept = 0
  if more ~= '' then
    local lapses
    lapses, kept = match(more, '^ 0 %d+ %d+ %d+ (%d+) (%d+) 0 ')
    if not lapses or tonumber(lapses) <= now then
      return 'M'
    end
  end
  expires = max(expires, now + lease)
  local last = max(expires + delay, tonumber(kept))
  put(code, FORMAT .. ' ' .. text(last) .. more .. '\n' .. text(expires) .. ' -1 0 1 ' .. hold, last)
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
