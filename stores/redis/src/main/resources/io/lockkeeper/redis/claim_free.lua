-- The shortest path of a claim: the name is free, and nothing is special about the claim, nor to be done for the bucket. Anything
-- else is left to what follows. See format.lua for what is kept, and claim.lua for the arguments.

local found = call('HMGET', names, '!till', '!refused', '!sweep', ARGV[1])
if
  not found[4] and ARGV[4] == '0' and ARGV[3] ~= 'P' and tonumber(ARGV[8]) >= now
  and now > tonumber(found[2] or 0) and now < tonumber(found[3] or 0)
then
  local expires = now + ARGV[6]
  local last = expires + ARGV[7]
  local floor = last <= tonumber(found[1] or 0) and call('GET', KEYS[2])
  if floor and (#floor < #clock or (#floor == #clock and floor < clock)) then
    call('SET', KEYS[2], text(now + ARGV[9] - 1))
    call(
      'HSET', names, ARGV[1],
      write_sole(last, '', expires, '1', write_rest(ARGV[10], ARGV[2], ARGV[3], clock, ARGV[9], clock, ARGV[13]))
    )
    return 'G ' .. clock .. ' ' .. ARGV[9] .. ' ' .. ARGV[6] .. ' 1 ' .. clock
  end
end
