-- Makes sure that the name has a row.
INSERT INTO ${row} (name) VALUES (:name)
