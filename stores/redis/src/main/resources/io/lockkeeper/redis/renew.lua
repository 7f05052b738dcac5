-- Renews holds and refreshes queued claims.
-- KEYS: floor, refused of the buckets; record, places, limits, queued of the names.
-- ARGV: for each of them 'H B N ID LEASE RAISE TOKEN BLOCK' or 'Q B N ID STRAY TERMS': the floor of its bucket is the Bth key,
--   its record the Nth; if RAISE is not 0, later tokens are to be greater, and TOKEN and BLOCK are the hold's from now on.
-- Answer: the time; then of each hold 'K REMAINING' or 'L REASON', of each queued claim what a claim is answered.

local function renew(name, id, lease, tokens)
  local held = find(name, id)
  if not held then
    return 'L EXPIRED'
  end
  if held.recalled >= 0 then
    return 'L BROKEN'
  end
  held.confirmed = '1'
  held.expires = max(held.expires, now + tonumber(lease))
  name.changed = true
  local raise, token, block = match(tokens, '^(%d+) (%d+) (%d+)$')
  if raise ~= '0' then
    held.token, held.block = token, tonumber(block)
    if less(call('GET', name.floor) or '0', raise) then
      call('SET', name.floor, raise)
    end
  end
  return 'K ' .. text(held.expires - now)
end

local function refresh(name, id, stray, words)
  local terms = parse(words)
  if name.place > 0 and call('ZSCORE', name.limits, id) then
    keep(name, id, now + terms.patience, stray, terms)
  end
  return standing(name, id, stray) or refused('GONE')
end

local answers = { clock }
for i, item in ipairs(ARGV) do
  local kind, bucket, record, id, a, b = match(item, '^(%S) (%d+) (%d+) (%S+) (%S+) (.*)$')
  local name = load(tonumber(record), tonumber(bucket))
  catch_up(name)
  answers[i + 1] = kind == 'H' and renew(name, id, a, b) or refresh(name, id, a, b)
  save(name)
end
return answers
