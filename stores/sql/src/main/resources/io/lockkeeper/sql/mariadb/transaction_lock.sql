-- Locks a name, by a row of its own, until the end of the transaction.
INSERT INTO ${row} (name) VALUES (:name) ON DUPLICATE KEY UPDATE name = VALUES(name)
