-- Holders but the first, and waiters, in order.
SELECT * FROM ${claim} WHERE name IN (:names...) ORDER BY name, state, seq ${all}
