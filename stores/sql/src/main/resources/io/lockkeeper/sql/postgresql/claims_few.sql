-- Holders but the first, and waiters, in order, of names with few of them, and of those that are wanted whole. A name's row comes
-- first, so that nothing is read of a name with many.
SELECT c.* FROM ${lock} l CROSS JOIN LATERAL (SELECT * FROM ${claim} WHERE name = l.name OFFSET 0) c
WHERE l.name IN (:names...) AND (l.holders + l.waiters <= :few OR l.name IN (:whole...))
ORDER BY c.name, c.state, c.seq
