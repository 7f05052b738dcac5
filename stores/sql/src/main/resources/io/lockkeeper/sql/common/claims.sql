-- Holders but the first, and who waits, in order.
SELECT * FROM ${claim} WHERE name = :name ORDER BY state, seq
