-- Holders but the first, the first waiter, and this claim, in order.
SELECT * FROM (SELECT * FROM ${claim} WHERE name = :name ORDER BY state, seq LIMIT 32) head
UNION
SELECT * FROM ${claim} WHERE name = :name AND claim = :claim
ORDER BY state, seq ${all}
