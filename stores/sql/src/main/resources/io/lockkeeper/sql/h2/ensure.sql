-- Makes sure that the name has a row.
-- Not ON l.name = n.name: that is of a type that ignores case while IGNORECASE is TRUE.
MERGE INTO ${lock} l USING (SELECT CAST(:name AS VARCHAR) AS name, m.floor AS floor FROM ${meta} m WHERE m.one = 1) n
ON l.name = :name
WHEN NOT MATCHED THEN INSERT (name, holders, waiters, closed_until, floor, touched, next_seq, strays, strays_until, format)
VALUES (n.name, 0, 0, 0, n.floor, 0, ${now}, '', 0, 1)
