-- Makes sure that the latch has a row.
-- Not ON l.name = n.name: that is of a type that ignores case while IGNORECASE is TRUE.
MERGE INTO ${latch} l USING (SELECT CAST(:name AS VARCHAR) AS name) n ON l.name = :name
WHEN NOT MATCHED THEN INSERT (name, remaining, generation, done, watchers, keep_until, format) VALUES (n.name, 0, 0, '', '', 0, 1)
