-- Keeps places in queues, or lengthens and confirms holds.
UPDATE ${claim} SET until = :until, expires = :expires, confirmed = :confirmed WHERE name IN (:names...) AND claim IN (:claims...)
