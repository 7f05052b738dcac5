-- Turns an exclusive hold into a shared one, and admits waiting readers.
-- KEYS: names, floor, refused of the bucket; places, limits, ends, entries of the name.
-- ARGV: code of the name, id, the token after the one in use, how many tokens of the block are left with it (0: none, take a
--   new one).
-- Answer: 'TOKEN BLOCK', or '' when there is no such hold.

local name = load(ARGV[1], fetch(ARGV[1])[4], 4)
catch_up(name)
local held = look(name, ARGV[2])
local answer = ''
if held and held.recalled < 0 then
  local was = held.mode
  if was == 'X' then
    held.mode = 'S'
    if ARGV[4] == '0' then
      held.token, held.block = draw(KEYS[2], 1)
    else
      held.token, held.block = ARGV[3], tonumber(ARGV[4])
    end
  end
  hold_changed(name, held) -- in any case, as in standing
  if was == 'X' then
    hand_over(name)
  end
  answer = held.token .. ' ' .. held.block
end
save(name)
return answer
