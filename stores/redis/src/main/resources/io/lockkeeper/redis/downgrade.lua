-- Turns an exclusive hold into a shared one, and lets waiting readers in.
-- KEYS: record, places, limits, queued of the name; floor, refused of its bucket.
-- ARGV: id, the token after the one in use, how many tokens of the block are left with it (0: none, take a new one).
-- Answer: 'TOKEN BLOCK', or '' when there is no such hold.

local name = load(1, 5)
catch_up(name)
local held = find(name, ARGV[1])
local answer = ''
if held and held.recalled < 0 then
  if held.mode == 'X' then
    held.mode = 'S'
    if ARGV[3] == '0' then
      held.token, held.block = draw(name.floor, 1)
    else
      held.token, held.block = ARGV[2], tonumber(ARGV[3])
    end
    hand_over(name)
  end
  name.changed = true
  answer = held.token .. ' ' .. text(held.block)
end
save(name)
return answer
