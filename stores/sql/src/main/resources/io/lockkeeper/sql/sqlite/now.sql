-- The machine's clock in microseconds (SQLite knows it to a millisecond).
CAST(unixepoch('subsec') * 1000000 AS INTEGER)
