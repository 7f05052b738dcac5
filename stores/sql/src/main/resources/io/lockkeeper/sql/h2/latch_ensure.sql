-- Makes sure that the latch has a row.
MERGE INTO ${latch} l USING (SELECT CAST(:name AS VARCHAR) AS name) n ON l.name = n.name
WHEN NOT MATCHED THEN INSERT (name, remaining, generation, done, watchers, keep_until, format) VALUES (n.name, 0, 0, '', '', 0, 1)
