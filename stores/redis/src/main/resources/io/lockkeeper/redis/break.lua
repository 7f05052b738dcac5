-- Breaks the hold that has a token.
-- KEYS: record, places, limits, queued of the name; floor, refused of its bucket.
-- ARGV: token, lock-delay, whether to end it at once (0, 1).
-- Answer: 1, or 0 when there is no such hold.

local name = load(1, 5)
catch_up(name)
local found = 0
for _, held in ipairs(name.holders) do
  if covers(held, ARGV[1]) then
    found = 1
    held.recalled = max(held.recalled, tonumber(ARGV[2]))
    name.changed = true
    if ARGV[3] == '1' then
      tell(held.id, 'L', ' BROKEN')
      finish(name, held.id, '0', 0)
    else
      tell(held.id, 'R', '')
    end
    break
  end
end
save(name)
return found
