-- The tables of a Lockkeeper store in H2. All times are microseconds since 1970, UTC.
-- ${lock} and so on stand for the names of the tables, by default lockkeeper_lock and so on.

-- One row a name in use, or used a moment ago. Every decision reads and writes this row.
--   name          percent-encoded where it is not plain ASCII
--   holders       how many hold it; the first stands in this row, the others in ${claim}
--   waiters       how many claims are queued; they stand in ${claim}
--   closed_until  the end of a lock-delay
--   floor         the largest token given
--   touched       when it was last taken, released or changed
--   next_seq      the place in the queue of who comes next; the first is the time at which the row was made
--   strays        ids of claims to be refused, each with its deadline; with a '!' before it, that of a hold that was broken at once,
--                 with the end of its lease; strays_until is the last of these times
--   claim …       the first holder: the id of its claim, its client and label, mode (X exclusive, S shared, P permits), and so on
--   recalled      -1, or, while the hold is being broken, the lock-delay to keep after it
CREATE TABLE IF NOT EXISTS ${lock} (
  name          VARCHAR_CASESENSITIVE(1536) NOT NULL PRIMARY KEY,
  holders       INTEGER  NOT NULL,
  waiters       INTEGER  NOT NULL,
  closed_until  BIGINT   NOT NULL,
  floor         BIGINT   NOT NULL,
  touched       BIGINT   NOT NULL,
  next_seq      BIGINT   NOT NULL,
  strays        VARCHAR(1000000) NOT NULL,
  strays_until  BIGINT   NOT NULL,
  format        SMALLINT NOT NULL,
  claim         VARCHAR_CASESENSITIVE(128),
  client        VARCHAR(250),
  label         VARCHAR(250),
  mode          VARCHAR(1),
  permits       INTEGER,
  permit_limit  INTEGER,
  token         BIGINT,
  block         INTEGER,
  since         BIGINT,
  expires       BIGINT,
  confirmed     SMALLINT,
  recalled      BIGINT,
  lease         BIGINT,
  lock_delay    BIGINT,
  patience      BIGINT,
  deadline      BIGINT,
  stray         SMALLINT
);

-- Holders but the first (readers, permits), and waiters.
--   seq    the order
--   state  H holds, W waits
--   until  when a waiter vanishes unless it is refreshed
CREATE TABLE IF NOT EXISTS ${claim} (
  name          VARCHAR_CASESENSITIVE(1536) NOT NULL,
  claim         VARCHAR_CASESENSITIVE(128) NOT NULL,
  seq           BIGINT   NOT NULL,
  state         VARCHAR(1) NOT NULL,
  until         BIGINT   NOT NULL,
  client        VARCHAR(250),
  label         VARCHAR(250),
  mode          VARCHAR(1),
  permits       INTEGER,
  permit_limit  INTEGER,
  token         BIGINT,
  block         INTEGER,
  since         BIGINT,
  expires       BIGINT,
  confirmed     SMALLINT,
  recalled      BIGINT,
  lease         BIGINT,
  lock_delay    BIGINT,
  patience      BIGINT,
  deadline      BIGINT,
  stray         SMALLINT,
  PRIMARY KEY (name, claim)
);

-- One row a latch.
--   done        ids of steps carried out, each with its deadline
--   watchers    clients to be told, each with how long it cares
--   keep_until  the last deadline of these ids: an open latch is not forgotten before
CREATE TABLE IF NOT EXISTS ${latch} (
  name          VARCHAR_CASESENSITIVE(1536) NOT NULL PRIMARY KEY,
  remaining     BIGINT   NOT NULL,
  generation    BIGINT   NOT NULL,
  done          VARCHAR(1000000) NOT NULL,
  watchers      VARCHAR(1000000) NOT NULL,
  keep_until    BIGINT   NOT NULL,
  format        SMALLINT NOT NULL
);

-- What the store knows of itself, in one row: its id, the floor of tokens of names that were forgotten, when that was, and how
-- often a hold has been broken.
CREATE TABLE IF NOT EXISTS ${meta} (
  one           INTEGER  NOT NULL PRIMARY KEY,
  id            VARCHAR(128) NOT NULL,
  floor         BIGINT   NOT NULL,
  purged        BIGINT   NOT NULL,
  breaks        BIGINT   NOT NULL,
  format        SMALLINT NOT NULL
);

-- One row a name that has been locked for a transaction; a row that nobody locks may be deleted.
CREATE TABLE IF NOT EXISTS ${row} (
  name          VARCHAR_CASESENSITIVE(1536) NOT NULL PRIMARY KEY
);
