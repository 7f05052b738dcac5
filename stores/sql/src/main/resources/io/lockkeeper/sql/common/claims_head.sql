-- Holders but the first, the first of those who wait, and these claims, in order.
SELECT * FROM (SELECT * FROM ${claim} WHERE name = :name ORDER BY state, seq LIMIT 32) head
UNION
SELECT * FROM ${claim} WHERE name = :name AND claim IN (:claims...)
ORDER BY state, seq
