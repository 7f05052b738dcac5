-- The fast path of one client that asks whether its queued claim has been granted: it has, and holds the name alone. Anything
-- else is left to the rules.

if ARGV[1] == '1' and #ARGV == 3 then
  local id = match(ARGV[3], '^Q 1 (%S+) 0 ')
  local record = id and fetch(ARGV[2])[4]
  local last, expires, confirmed, holder, token, block = match(record or '', TO_ANSWER)
  if holder and holder == id and tonumber(expires) > now then
    put(ARGV[2], record, tonumber(last)) -- so that a client that waits for replicas waits for this, too
    return { clock, 'G ' .. token .. ' ' .. block .. ' ' .. text(expires - now) .. ' ' .. confirmed .. ' ' .. clock }
  end
end
