-- Claims a name.
-- KEYS: names, floor, refused of the bucket; places, limits, ends, entries of the name.
-- ARGV: code of the name, id, mode, stray (0, 1), whether to queue (0, 1), lease, lock-delay, deadline, block, limit, first
--   lease, patience, 'LOCK-DELAY DEADLINE PERMITS CLIENT LABEL'.
-- Answer: 'G TOKEN BLOCK REMAINING CONFIRMED AT', 'Q AHEAD RETRY-AFTER AT' or 'R WHY AT …'.

local id, mode, stray = ARGV[2], ARGV[3], ARGV[4]
local claim = read_entry(write_entry(mode, stray, ARGV[11], ARGV[12], ARGV[9], ARGV[10], ARGV[13]))

-- The limit of the semaphore that the name is in use as, 0 for a lock.
local function limit_in_use(name)
  if name.sole then
    return tonumber(name.sole.limit)
  elseif name.crowd > 0 then
    return name.limit
  end
  local _, entry = head(name)
  return entry and tonumber(entry.limit)
end

local function enter(name)
  local limit = limit_in_use(name)
  if limit and limit ~= tonumber(claim.limit) then
    return refused('CONFLICT', limit > 0 and 'semaphore ' .. text(limit) or 'lock')
  end
  if name.waiting == 0 and is_open(name, claim) then
    return granted(admit(name, id, claim, ARGV[6], '1'))
  end
  if ARGV[5] == '0' then
    return refused('BUSY')
  end
  enqueue(name, id, claim)
  return queued(name, name.waiting - 1, claim.patience)
end

local name = load(ARGV[1], record, 4)
catch_up(name)
local answer = standing(name, id, stray)
if not answer then
  if remembers(id) then
    answer = refused('GONE')
  elseif tonumber(claim.deadline) < now then
    answer = refused('LATE')
  else
    answer = enter(name)
  end
end
save(name)
return answer
