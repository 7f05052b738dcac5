-- Locks a name, by its own row, until the end of the transaction.
INSERT INTO ${row} (name) VALUES (:name) ON DUPLICATE KEY UPDATE name = VALUES(name)
