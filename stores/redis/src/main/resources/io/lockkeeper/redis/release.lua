-- Ends a hold and admits the next; acknowledges a recall.
-- KEYS: names, floor, refused of the bucket; places, limits, ends, entries of the name.
-- ARGV: code of the name, id, stray (0, 1), deadline of the claim.
-- Answer: 1, or 0 when there is no such hold.

local name = load(ARGV[1], record, 4)
catch_up(name)
if ARGV[3] == '1' then
  remember(ARGV[2], ARGV[4])
end
local held = look(name, ARGV[2])
if held then
  finish(name, held)
end
save(name)
return held and 1 or 0
