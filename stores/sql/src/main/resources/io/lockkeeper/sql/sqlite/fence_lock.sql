-- Makes sure that the name has marks, and locks the file: a transaction that begins by reading may not get to write.
INSERT INTO ${fence} (name, exclusive_token, shared_token, format) VALUES (:name, 0, 0, 1)
ON CONFLICT (name) DO UPDATE SET name = excluded.name
