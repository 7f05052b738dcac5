-- Enters a fence and runs the protected write: both or neither. The write is the function write, which comes before this.
-- KEYS: the marks of N names, then those of the write.
-- ARGV: N; for each name its mode, X or S, and its token; then those of the write.
-- Answer: 'STALE', which of the names, the token seen there; or 'DONE' and what the write returns.
--
-- A mark is a string, kept forever: 'FORMAT EXCLUSIVE SHARED', the largest tokens seen. Tokens are compared and kept as
-- strings, because a double cannot represent them all.

local FORMAT = '1'

local function less(a, b)
  return #a < #b or (#a == #b and a < b)
end

local count = tonumber(table.remove(ARGV, 1))
local marks = {}
for i = 1, count do
  local key, mode, token = table.remove(KEYS, 1), table.remove(ARGV, 1), table.remove(ARGV, 1)
  local format, exclusive, shared = string.match(redis.call('GET', key) or FORMAT .. ' 0 0', '^(%d+) (%d+) (%d+)$')
  if format ~= FORMAT then
    return redis.error_reply('LKFORMAT the mark ' .. key .. ' has a format that this version does not know')
  end
  if mode == 'X' then
    local latest = less(exclusive, shared) and shared or exclusive
    if less(token, latest) then
      return { 'STALE', i, latest }
    end
    exclusive = token
  else
    if not less(exclusive, token) then
      return { 'STALE', i, exclusive }
    end
    shared = less(shared, token) and token or shared
  end
  marks[i] = { key, FORMAT .. ' ' .. exclusive .. ' ' .. shared }
end
for _, mark in ipairs(marks) do
  redis.call('SET', mark[1], mark[2])
end
return { 'DONE', write() }
