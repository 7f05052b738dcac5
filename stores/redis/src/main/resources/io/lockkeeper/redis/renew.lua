-- Renews holds and refreshes queued claims.
-- KEYS: floor, refused of the buckets; record, places, limits, queued of the names.
-- ARGV: for each of them 'H B N ID LEASE RAISE' or 'Q B N ID STRAY TERMS': the floor of its bucket is the Bth key, its record
--   the Nth; later tokens are to be greater than RAISE.
-- Answer: the time; then of each hold 'K REMAINING' or 'L REASON', of each queued claim what a claim is answered.

local function renew(name, id, lease, raise)
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
  if less(call('GET', name.floor) or '0', raise) then
    call('SET', name.floor, raise)
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
