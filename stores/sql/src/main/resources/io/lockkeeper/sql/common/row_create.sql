-- One row per name that has been locked for a transaction; a row that nobody locks may be deleted.
CREATE TABLE IF NOT EXISTS ${row} (
  name          ${key} NOT NULL PRIMARY KEY
) ${table_end}
