-- One row a name that has entered a JdbcFence, kept for ever: the largest tokens seen.
--   name             percent-encoded where it is not plain ASCII
--   exclusive_token  of writers
--   shared_token     of readers
CREATE TABLE IF NOT EXISTS ${fence} (
  name             VARCHAR_CASESENSITIVE(1536) NOT NULL PRIMARY KEY,
  exclusive_token  BIGINT  NOT NULL,
  shared_token     BIGINT  NOT NULL,
  format           INTEGER NOT NULL
)
