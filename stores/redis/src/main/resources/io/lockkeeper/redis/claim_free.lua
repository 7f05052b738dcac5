-- The shortest path of a claim: the name is free, and nothing is special about the claim, nor to be done for the bucket. Anything
-- else is left to what follows. See format.lua for what is kept, and claim.lua for the arguments. Arithmetic reads numbers from
-- text in less time than tonumber does.

local found = call('HMGET', names, '!till', '!refused', '!sweep', ARGV[1])
if
  not found[4] and ARGV[4] == '0' and ARGV[3] ~= 'P' and ARGV[8] - now >= 0
  and (not found[2] or now > tonumber(found[2])) and found[3] and now - found[3] < 0
then
  local expires = now + ARGV[6]
  local last = expires + ARGV[7]
  local floor = found[1] and last - found[1] <= 0 and call('GET', KEYS[2])
  if floor and (#floor < #clock or (#floor == #clock and floor < clock)) then
    call('SET', KEYS[2], text(now + ARGV[9] - 1))
    call(
      'HSET', names, ARGV[1],
      write_sole(last, '', expires, '1', write_rest(ARGV[10], ARGV[2], ARGV[3], clock, ARGV[9], clock, ARGV[13]))
    )
    return 'G ' .. clock .. ' ' .. ARGV[9] .. ' ' .. ARGV[6] .. ' 1 ' .. clock
  end
end
