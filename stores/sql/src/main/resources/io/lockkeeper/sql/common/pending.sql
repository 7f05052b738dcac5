-- How these names stand, and which of these claims are among the other holders. The first holder is in the name's own row; the
-- counts and the floor change with every grant, release and enqueueing, so that a client sees whether something has happened.
SELECT name, claim, token, block, expires, confirmed, holders, waiters, floor, next_seq, closed_until, ${now} AS at FROM ${lock}
WHERE name IN (:names...)
UNION ALL
SELECT name, claim, token, block, expires, confirmed, -1 AS holders, 0 AS waiters, 0 AS floor, 0 AS next_seq, 0 AS closed_until, ${now} AS at
FROM ${claim} WHERE name IN (:names...) AND claim IN (:claims...) AND state = 'H' ${all}
