-- Breaks the hold that has a token.
-- KEYS: names, floor, refused of the bucket; places, limits, ends, entries of the name.
-- ARGV: code of the name, token, lock-delay, whether to end it immediately (0, 1).
-- Answer: 1, or 0 when there is no such hold.

local function covers(held, token)
  if held.block == 1 then
    return held.token == token
  end
  local ahead = tonumber(token) - tonumber(held.token) -- blocks are given below 2^53 only
  return ahead >= 0 and ahead < held.block
end

local name = load(ARGV[1], fetch(ARGV[1])[4], 4)
catch_up(name)
local found = 0
for _, held in ipairs(name.sole and { name.sole } or name.crowd > 0 and crowd(name) or {}) do
  if covers(held, ARGV[2]) then
    found = 1
    held.recalled = max(held.recalled, tonumber(ARGV[3]))
    hold_changed(name, held)
    tell(held.id)
    if ARGV[4] == '1' then
      remember_broken(held)
      finish(name, held)
    end
    break
  end
end
save(name)
return found
