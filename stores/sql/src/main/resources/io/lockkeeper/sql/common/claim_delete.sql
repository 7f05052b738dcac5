-- Ends holds but the first, or removes waiters.
DELETE FROM ${claim} WHERE name = :name AND claim IN (:claims...)
