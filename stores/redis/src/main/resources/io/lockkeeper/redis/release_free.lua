-- The shortest path of a release: by the only holder, and nobody waits. Anything else is left to what follows. See format.lua for
-- what is kept, and release.lua for the arguments.

local found = call('HMGET', names, '!till', '!refused', '!sweep', ARGV[1])
if found[4] and ARGV[3] == '0' then
  local more, expires, holder = match(found[4], TO_RELEASE)
  if holder == ARGV[2] and more == '' and expires - now > 0 then
    call('HDEL', names, ARGV[1])
    return 1
  end
end
