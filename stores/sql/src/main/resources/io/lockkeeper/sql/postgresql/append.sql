-- Takes a place at the end of a queue and writes down the claim that has taken it, in one statement. Gives how many are ahead,
-- when the first holder expires, and the time; no row: see the general way.
WITH place AS (
  ${append_row}
  RETURNING name, next_seq - 1 AS seq, waiters - 1 AS ahead, expires, touched AS at),
entry AS (
  ${claim_into}
  SELECT name, :claim, seq, 'W', at + :patience, ${append_values} FROM place)
SELECT ahead, expires, at FROM place
