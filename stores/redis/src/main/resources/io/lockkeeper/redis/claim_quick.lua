-- The fast paths of a claim that nothing is special about: the name is free, or one claim holds it and this one queues. Anything
-- else is left to the rules. It may be given the first two keys alone, and then takes only the first path.

local record = take(found)[4]
if ARGV[4] == '0' and refused_till < now and tonumber(ARGV[8]) >= now then
  if not record and (ARGV[3] ~= 'P' or tonumber(match(ARGV[13], '^%d+ %d+ (%d+)')) <= tonumber(ARGV[10])) then
    local token, block = draw(KEYS[2], ARGV[9])
    local expires = now + ARGV[6]
    local rest = write_rest(ARGV[10], ARGV[2], ARGV[3], token, block, clock, ARGV[13])
    put(ARGV[1], write_sole(expires + ARGV[7], '', expires, '1', rest), expires + ARGV[7])
    sweep()
    return 'G ' .. token .. ' ' .. block .. ' ' .. ARGV[6] .. ' 1 ' .. clock
  end
  local last, more, hold, expires, limit, holder = match(record or '', TO_QUEUE)
  if last and KEYS[7] and ARGV[5] == '1' then
    local waiting, began, place, lapses, kept = queue_behind(more)
    expires = tonumber(expires)
    if
      limit == ARGV[10] and holder ~= ARGV[2] and expires > now
      and waiting and (waiting ~= '0' and tonumber(lapses) > now or waiting == '0' and ARGV[3] == 'X')
      and call(
          'HSETNX', KEYS[7], ARGV[2], write_entry(ARGV[3], '0', ARGV[11], ARGV[12], ARGV[9], limit, ARGV[13])
        ) == 1
    then
      local lapse = now + ARGV[12]
      local lapse_text = text(lapse)
      place = text(max(now, place + 1))
      if waiting == '0' then
        began, lapses, kept = place, lapse_text, '0'
      elseif lapse < tonumber(lapses) then
        lapses = lapse_text
      end
      call('ZADD', KEYS[4], place, ARGV[2])
      call('ZADD', KEYS[5], lapse_text, ARGV[2])
      if lapse > tonumber(kept) then
        kept = text(lapse + SLACK)
        call('PEXPIREAT', KEYS[4], millis(kept))
        call('PEXPIREAT', KEYS[5], millis(kept))
        call('PEXPIREAT', KEYS[7], millis(kept))
      end
      last = max(tonumber(last), tonumber(kept))
      put(ARGV[1], write_record(last, write_queue(waiting + 1, began, place, lapses, kept), hold), last)
      return 'Q ' .. waiting .. ' ' .. text(wait(ARGV[12], expires, waiting)) .. ' ' .. clock
    end
  end
end
