-- Makes sure that the name has marks.
INSERT INTO ${fence} (name, exclusive_token, shared_token, format) VALUES (:name, 0, 0, 1) ON CONFLICT (name) DO NOTHING
