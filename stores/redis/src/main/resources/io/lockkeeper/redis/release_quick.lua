-- The fast path of a release by the only holder, when the next in the queue wants it exclusively. Anything else is left to
-- the rules.

local record = take(found)[4]
local more, expires, holder = match(record or '', TO_RELEASE)
if holder == ARGV[2] and ARGV[3] == '0' and tonumber(expires) > now then
  local waiting, began, place, lapses, kept = queue_behind(more)
  if waiting and waiting ~= '0' and tonumber(lapses) > now then
    local next = call('ZRANGE', KEYS[4], 0, 0, 'WITHSCORES')
    local id = next[1]
    local entry = id and tonumber(next[2]) >= tonumber(began) and call('HGET', KEYS[7], id)
    local mode, is_stray, first, _, block, limit, tail, delay = match(entry or '', ENTRY)
    if mode == 'X' and is_stray == '0' then
      local token
      call('HDEL', KEYS[7], id) -- first: a full server allows a script to write only after it has deleted something
      call('ZREM', KEYS[4], id)
      call('ZREM', KEYS[5], id)
      token, block = draw(KEYS[2], block)
      expires = now + first
      waiting = waiting - 1
      local last = waiting > 0 and max(expires + delay, tonumber(kept)) or expires + delay
      local rest = write_rest(limit, id, mode, token, block, clock, tail)
      put(ARGV[1], write_sole(last, write_queue(waiting, began, place, lapses, kept), expires, '0', rest), last)
      tell(id)
      return 1
    end
  end
end
