-- Keeps places in the queue.
UPDATE ${claim} SET until = :until WHERE name = :name AND state = 'W' AND claim IN (:claims...)
