-- Ends a hold and lets the next in; acknowledges a recall.
-- KEYS: record, places, limits, queued of the name; floor, refused of its bucket.
-- ARGV: id, stray (0, 1), deadline of the claim.
-- Answer: 1, or 0 when there is no such hold.

local name = load(1, 5)
catch_up(name)
local found = finish(name, ARGV[1], ARGV[2], tonumber(ARGV[3]))
save(name)
return found and 1 or 0
