-- Renews holds whose names nobody else holds or waits for, each by rewriting its record; the others are left to renew.lua.
-- KEYS: the records of the names.
-- ARGV: for each of them 'ID LEASE'.
-- Answer: the time; then of each hold 'K REMAINING', or 'M' when it is not so simple.

local SOLE = FORMAT .. ' 0 0 0\n'

local function extend(record, item)
  local id, lease = match(item, '^(%S+) (%d+)$')
  local sole = call('GET', record)
  local expected = SOLE .. id .. ' '
  if not sole or string.sub(sole, 1, #expected) ~= expected then
    return 'M'
  end
  local head, expires, terms = match(sole, '^(%S+ 0 %S+ %S+ %S+ )(%S+) %S+ %-1 ([^\n]*)$', #expected + 1)
  if not head or tonumber(expires) <= now then
    return 'M'
  end
  expires = max(tonumber(expires), now + lease)
  local delay = match(terms, '^%d+ %d+ %d+ %d+ (%d+)')
  call(
    'SET', record, expected .. head .. text(expires) .. ' 1 -1 ' .. terms,
    'PX', millis(expires - now + delay)
  )
  return 'K ' .. text(expires - now)
end

local answers = { clock }
for i, item in ipairs(ARGV) do
  answers[i + 1] = extend(KEYS[i], item)
end
return answers
