-- A page of the names of a bucket.
-- KEYS: names of the bucket.
-- ARGV: where to continue, '0' to begin; a pattern; the last name that is wanted, or '' for all.
-- Answer: where to continue, '0' at the end; the codes.

local last = ARGV[3]

-- Byte by byte, because how Lua compares depends on the server's locale.
local function is_wanted(code)
  if last == '' then
    return true
  end
  local name = string.gsub(code, '%%(%x%x)', function(hex)
    return string.char(tonumber(hex, 16))
  end)
  for i = 1, math.min(#name, #last) do
    local a, b = string.byte(name, i), string.byte(last, i)
    if a ~= b then
      return a < b
    end
  end
  return #name <= #last
end

local page = call('HSCAN', names, ARGV[1], 'MATCH', ARGV[2], 'COUNT', 1000)
local answer = { page[1] }
for i = 1, #page[2], 2 do
  local code = page[2][i]
  if string.sub(code, 1, 1) ~= '!' and is_wanted(code) then
    answer[#answer + 1] = code
  end
end
return answer
