-- The quick way of a release by the only holder, when the next in the queue wants the name for itself. Anything else is left to
-- the rules.

local record = take(found)[4]
local expires, holder = match(record or '', '\n(%d+) %-1 0 %d %d+ (%S+) ')
if holder == ARGV[2] and ARGV[3] == '0' and tonumber(expires) > now then
  local waiting, began, place, lapses, kept = queue_behind(record)
  if waiting and waiting ~= '0' and tonumber(lapses) > now then
    local next = call('ZRANGE', KEYS[4], 0, 0, 'WITHSCORES')
    local id = next[1]
    local entry = id and tonumber(next[2]) >= tonumber(began) and call('HGET', KEYS[7], id)
    local first, block, limit, tail, delay = match(entry or '', '^X 0 (%d+) %d+ (%d+) (%d+) ((%d+) .*)$')
    if first then
      local token
      call('HDEL', KEYS[7], id) -- first: a full server allows a script to write only after it has deleted something
      call('ZREM', KEYS[4], id)
      call('ZREM', KEYS[5], id)
      token, block = draw(KEYS[2], block)
      expires = now + first
      put(
        ARGV[1],
        record_of(
          line(expires, '-1', '0', '0', limit, id, 'X', token, block, clock, tail), expires + delay,
          waiting - 1, began, place, lapses, kept
        )
      )
      tell(id)
      return 1
    end
  end
end
