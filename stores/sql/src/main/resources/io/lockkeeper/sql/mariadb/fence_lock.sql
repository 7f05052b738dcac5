-- Makes sure that the name has marks, and locks them. To look first would lock a gap, and two that do so would wait for each other.
INSERT INTO ${fence} (name, exclusive_token, shared_token, format) VALUES (:name, 0, 0, 1)
ON DUPLICATE KEY UPDATE name = VALUES(name)
