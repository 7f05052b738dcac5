-- Renews holds and refreshes queued claims of a bucket. Each name is loaded and saved once, however many of them concern it.
-- KEYS: names, floor, refused of the bucket; places, limits, ends, entries of each name.
-- ARGV: how many names; their codes; then for each item 'H N ID LEASE RAISE TOKEN BLOCK' or 'Q N ID STRAY PATIENCE DEADLINE':
--   it concerns the Nth name; if RAISE is not 0, later tokens must be greater, and TOKEN and BLOCK are the hold's from now on.
-- Answer: the time; then of each hold 'K REMAINING', 'R' when it is being broken, or 'L REASON'; of each queued claim what a
--   claim is answered.

local function renew(name, id, rest)
  local held = look(name, id)
  if not held then
    return was_broken(id) and 'L BROKEN' or 'L EXPIRED'
  end
  if held.recalled >= 0 then
    return 'R'
  end
  local lease, raise, token, block = match(rest, '^(%d+) (%d+) (%d+) (%d+)$')
  held.confirmed = '1'
  held.expires = max(held.expires, now + lease)
  if raise ~= '0' then
    held.token, held.block = token, tonumber(block)
    if less(call('GET', KEYS[2]) or '0', raise) then
      call('SET', KEYS[2], raise)
    end
  end
  hold_changed(name, held)
  return 'K ' .. text(held.expires - now)
end

local function refresh(name, id, rest)
  local stray, patience, deadline = match(rest, '^(%d) (%d+) (%d+)$')
  local _, entry = look(name, id)
  if entry and not call('ZSCORE', name.limits, id) then
    unqueue(name, id) -- part of it was deleted by hand
  elseif entry then
    set_limit(name, id, now + patience, stray, deadline)
  end
  return standing(name, id, stray) or refused('GONE')
end

local count = tonumber(ARGV[1])
local all = {}
local found = fetch(unpack(ARGV, 2, count + 1))
for n = 1, count do
  all[n] = load(ARGV[n + 1], found[n + 3], 4 * n)
  catch_up(all[n])
end
local answers = { clock }
for i = count + 2, #ARGV do
  local kind, n, id, rest = match(ARGV[i], '^(%a) (%d+) (%S+) (.*)$')
  local name = all[tonumber(n)]
  answers[#answers + 1] = kind == 'H' and renew(name, id, rest) or refresh(name, id, rest)
end
for n = 1, count do
  save(all[n])
end
return answers
