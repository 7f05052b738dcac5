-- Their holders but the first, and waiters, in order.
SELECT * FROM ${claim} WHERE name >= :from AND name < :to ORDER BY name, seq
