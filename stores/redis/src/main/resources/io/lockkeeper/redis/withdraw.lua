-- Leaves the queue, or gives back what was granted meanwhile.
-- KEYS: names, floor, refused of the bucket; places, limits, ends, entries of the name.
-- ARGV: code of the name, id, stray (0, 1), deadline of the claim.

local id = ARGV[2]
local name = load(ARGV[1], fetch(ARGV[1])[4], 4)
catch_up(name)
if ARGV[3] == '1' then
  remember(id, ARGV[4])
end
local held, entry = look(name, id)
if entry then
  unqueue(name, id)
  hand_over(name)
elseif held then
  finish(name, held)
end
save(name)
return 1
