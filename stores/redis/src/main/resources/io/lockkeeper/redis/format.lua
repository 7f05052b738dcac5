-- The form of records: what is kept, every pattern that reads it, and all that writes it. No other script knows what a record looks
-- like, and in Java only NameSnapshot does: it reads the line of a hold, which is what inspect.lua and check.lua answer.
--
-- All that is kept of the names of a bucket, and the keys that each script is given first:
--   KEYS[1]  names    hash: the name's code to its record. This is also the index of the names in use. Its fields that begin with
--                     '!' are not names: '!till', when the hash expires; '!refused', until when some id is refused; '!sweep', when
--                     to look next for what vanished clients have left; '!cursor', how far that has come; '!broken ID', of a hold
--                     that was broken immediately: 'FORMAT LAST', when its lease would have ended
--   KEYS[2]  floor    string, never expires: the largest token given so far
--   KEYS[3]  refused  sorted set: ids that must not be carried out any more, by the deadline until which that matters
-- A record is two lines of words, for a name that one claim holds and nobody waits for:
--   'FORMAT LAST'
--   'EXPIRES RECALLED STRAY CONFIRMED LIMIT ID MODE TOKEN BLOCK SINCE DELAY DEADLINE PERMITS CLIENT LABEL', the holder
-- LAST: when the record means nothing any more. RECALLED: the lock-delay after a hold that is being broken, otherwise -1.
-- Anything more is in the first line and in keys that exist only then. The first line is
--   'FORMAT LAST CLOSED WAITING BEGAN PLACE LAPSES KEPT CROWD TAKEN LIMIT GONE'
-- CLOSED: until when the name is closed. WAITING: how many claims are queued. BEGAN, PLACE: the first and the last place given.
-- LAPSES: no queued claim lapses before that. KEPT: when the keys of the queue expire. CROWD: how many hold the name, if it was
-- ever more than one since it was free: they are in their own keys then, and there is no second line. TAKEN: how many permits
-- they have. LIMIT: of the semaphore, 0 for a lock. GONE: when the keys of the crowd expire.
-- The keys of a name:
--   places    sorted set: id of the queued claim by its place; the smallest is the next
--   limits    sorted set: id of the queued claim by the time at which it lapses unless it is refreshed
--   ends      sorted set: id of a hold of the crowd by the time at which it expires
--   entries   hash: of a queued claim, id to 'MODE STRAY FIRST PATIENCE BLOCK LIMIT TAIL', where TAIL is the words of the line of
--             a hold from DELAY on; of a hold of the crowd, id to its line

local FORMAT = '2' -- which the patterns of records begin with

-- Of a record: LAST; the rest of the first line, with a blank before it; the line of the only hold.
local RECORD = '^2 (%d+)([^\n]*)\n?(.*)$'
local LAST = '^2 (%d+)'

-- Of the rest of the first line: all its words; or WAITING, BEGAN, PLACE, LAPSES and KEPT, if there is nothing but a queue.
local MORE = '^ (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+)$'
local ONLY_QUEUE = '^ 0 (%d+) (%d+) (%d+) (%d+) (%d+) 0 0 0 0$'

-- Of the line of a hold: EXPIRES, RECALLED, STRAY, CONFIRMED, LIMIT, ID, MODE, TOKEN, BLOCK, SINCE; TAIL, which is all from DELAY
-- on; DELAY, DEADLINE, PERMITS.
local HOLD = '^(%d+) (%S+) (%d) (%d) (%d+) (%S+) (%a) (%d+) (%d+) (%d+) ((%d+) (%d+) (%d+) .*)$'

-- Of the record of a name that one claim holds, what each of the fast paths needs, and no more, because each capture costs. MORE is
-- the rest of the first line.
-- To queue: LAST, MORE, the line of the hold, EXPIRES, LIMIT, ID.
local TO_QUEUE = '^2 (%d+)([^\n]*)\n((%d+) %S+ %d %d (%d+) (%S+) .*)$'
-- To release a hold that is not being broken and whose claim did not stray: MORE, EXPIRES, ID.
local TO_RELEASE = '^2 %d+([^\n]*)\n(%d+) %-1 0 %d %d+ (%S+) '
-- To extend such a hold: MORE, EXPIRES; all from LIMIT on; ID, DELAY.
local TO_EXTEND = '^2 %d+([^\n]*)\n(%d+) %-1 0 %d (%d+ (%S+) %a %d+ %d+ %d+ (%d+) .*)$'
-- To say what was granted: LAST, EXPIRES, CONFIRMED, ID, TOKEN, BLOCK.
local TO_ANSWER = '^2 (%d+)[^\n]*\n(%d+) %S+ %d (%d) %d+ (%S+) %a (%d+) (%d+) '

-- Of the entry of a queued claim: MODE, STRAY, FIRST, PATIENCE, BLOCK, LIMIT; TAIL; DELAY, DEADLINE, PERMITS.
local ENTRY = '^(%a) (%d) (%d+) (%d+) (%d+) (%d+) ((%d+) (%d+) (%d+) .*)$'

-- What a hold's line among the entries begins with, and the entry of a queued claim does not.
local IS_HOLD = '^%d'

-- A whole number as text. Redis itself writes out numbers that it is passed, but takes longer.
local function text(number)
  return format(WHOLE, number)
end

-- The record of a name with one hold, which is not being broken and whose claim did not stray: MORE is the rest of the first line,
-- REST all from LIMIT on.
local function write_sole(last, more, expires, confirmed, rest)
  return '2 ' .. text(last) .. more .. '\n' .. text(expires) .. ' -1 0 ' .. confirmed .. ' ' .. rest
end

-- All from LIMIT on of the line of a hold, which remains the same as long as the hold keeps its token.
local function write_rest(limit, id, mode, token, block, since, tail)
  return limit .. ' ' .. id .. ' ' .. mode .. ' ' .. token .. ' ' .. block .. ' ' .. since .. ' ' .. tail
end

-- Any record; either of the rest of its first line and the line of the only hold may be empty.
local function write_record(last, more, hold)
  return '2 ' .. text(last) .. more .. (hold == '' and '' or '\n') .. hold
end

-- The rest of the first line, all as text.
local function write_more(closed, waiting, began, place, lapses, kept, crowd, taken, limit, gone)
  return ' ' .. closed .. ' ' .. waiting .. ' ' .. began .. ' ' .. place .. ' ' .. lapses .. ' ' .. kept .. ' ' .. crowd .. ' '
    .. taken .. ' ' .. limit .. ' ' .. gone
end

-- The entry of a queued claim, all as text.
local function write_entry(mode, stray, first, patience, block, limit, tail)
  return mode .. ' ' .. stray .. ' ' .. first .. ' ' .. patience .. ' ' .. block .. ' ' .. limit .. ' ' .. tail
end
