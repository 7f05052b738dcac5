-- Makes sure that the latch has a row.
INSERT INTO ${latch} (name, remaining, generation, done, watchers, keep_until, format) VALUES (:name, 0, 0, '', '', 0, 1) ON CONFLICT (name) DO NOTHING
