-- Makes sure that the name has a row.
INSERT IGNORE INTO ${lock} (name, holders, waiters, closed_until, floor, touched, next_seq, strays, strays_until, format)
SELECT :name, 0, 0, 0, m.floor, 0, ${now}, '', 0, 1 FROM ${meta} m WHERE m.one = 1
