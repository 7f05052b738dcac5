-- Makes sure that the latch has a row.
INSERT IGNORE INTO ${latch} (name, remaining, generation, done, watchers, keep_until, format) VALUES (:name, 0, 0, '', '', 0, 1)
