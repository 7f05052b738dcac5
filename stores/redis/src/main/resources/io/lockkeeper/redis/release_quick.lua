-- The quick way of a release: the only holder gives back, and nobody waits. Anything else is left to the rules.

local sole = call('GET', KEYS[1])
local expected = FORMAT .. ' 0 0 0\n' .. ARGV[1] .. ' '
if sole and ARGV[2] == '0' and string.sub(sole, 1, #expected) == expected then
  local expires, others = match(sole, '^%S+ 0 %S+ %S+ %S+ (%S+) %S+ %-1 [^\n]*(\n?)', #expected + 1)
  if others == '' and tonumber(expires) > now then
    call('DEL', KEYS[1])
    return 1
  end
end
