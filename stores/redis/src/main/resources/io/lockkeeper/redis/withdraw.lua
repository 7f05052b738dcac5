-- Leaves the queue, or gives back what was granted meanwhile.
-- KEYS: record, places, limits, queued of the name; floor, refused of its bucket.
-- ARGV: id, stray (0, 1), deadline of the claim.

local id, stray, deadline = ARGV[1], ARGV[2], tonumber(ARGV[3])
local name = load(1, 5)
catch_up(name)
if unqueue(name, id) then
  if stray == '1' then
    remember(name.refused, id, deadline)
  end
  hand_over(name)
else
  finish(name, id, stray, deadline)
end
save(name)
return 1
