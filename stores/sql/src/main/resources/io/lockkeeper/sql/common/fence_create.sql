-- One row per name that has entered a JdbcFence, kept forever: the largest tokens seen.
--   name             percent-encoded where it is not plain ASCII
--   exclusive_token  of writers
--   shared_token     of readers
CREATE TABLE IF NOT EXISTS ${fence} (
  name             ${key} NOT NULL PRIMARY KEY,
  exclusive_token  BIGINT  NOT NULL,
  shared_token     BIGINT  NOT NULL,
  format           INTEGER NOT NULL
) ${table_end}
