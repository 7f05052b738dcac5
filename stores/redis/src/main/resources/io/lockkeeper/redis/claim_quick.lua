-- The quick way of a claim: nobody uses the name, and no id of the bucket is refused. Anything else is left to the rules.

if call('EXISTS', KEYS[1], KEYS[6]) == 0 then
  local id, mode, stray, terms = ARGV[1], ARGV[2], ARGV[3], ARGV[5]
  local permits, limit, lease, delay, wanted, deadline =
    match(terms, '^(%d+) (%d+) (%d+) %d+ (%d+) %d+ (%d+) (%d+)')
  local left = tonumber(deadline) - now
  if left >= 0 and (mode ~= 'P' or tonumber(permits) <= tonumber(limit)) then
    local token, block = draw(KEYS[5], max(1, wanted))
    call(
      'SET', KEYS[1],
      FORMAT .. ' 0 0 0\n' .. id .. ' ' .. mode .. ' ' .. stray .. ' ' .. token .. ' ' .. block .. ' ' .. clock .. ' '
        .. text(now + lease) .. ' 1 -1 ' .. terms,
      'PX', millis(max(lease + delay, stray == '1' and left or 0))
    )
    return 'G ' .. token .. ' ' .. block .. ' ' .. lease .. ' 1 ' .. clock
  end
end
