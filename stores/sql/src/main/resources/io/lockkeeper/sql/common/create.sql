-- The tables of a Lockkeeper store. All times are microseconds since 1970, UTC.
-- ${lock} and so on stand for the names of the tables, by default lockkeeper_lock and so on; ${key} and other types, and what
-- follows a table, for the words of the dialect, in its types.properties.

-- One row per name in use, or used a moment ago. Every decision reads and writes this row.
--   name          percent-encoded where it is not plain ASCII
--   holders       how many hold it; the first stands in this row, the others in ${claim}
--   waiters       how many claims are queued; they stand in ${claim}
--   closed_until  the end of a lock-delay
--   floor         the largest token given
--   touched       when it was last taken, released or changed
--   next_seq      the place in the queue of the next claim; the first is the time at which the row was made
--   strays        ids of claims to be refused, each with its deadline; with a '!' before it, that of a hold that was broken without waiting,
--                 with the end of its lease; strays_until is the last of these times
--   claim …       the first holder: the id of its claim, its client and label, mode (X exclusive, S shared, P permits), and so on
--   recalled      -1, or, while the hold is being broken, the lock-delay to keep after it
CREATE TABLE IF NOT EXISTS ${lock} (
  name          ${key} NOT NULL PRIMARY KEY,
  holders       INTEGER  NOT NULL,
  waiters       INTEGER  NOT NULL,
  closed_until  BIGINT   NOT NULL,
  floor         BIGINT   NOT NULL,
  touched       BIGINT   NOT NULL,
  next_seq      BIGINT   NOT NULL,
  strays        ${ids} NOT NULL,
  strays_until  BIGINT   NOT NULL,
  format        SMALLINT NOT NULL,
  claim         ${claim_id},
  client        ${text},
  label         ${text},
  mode          ${letter},
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
) ${lock_end};

-- Holders but the first (readers, permits), and waiters.
--   seq    the order
--   state  H holds, W waits
--   until  when a waiter vanishes unless it is refreshed
CREATE TABLE IF NOT EXISTS ${claim} (
  name          ${key} NOT NULL,
  claim         ${claim_id} NOT NULL,
  seq           BIGINT   NOT NULL,
  state         ${letter} NOT NULL,
  until         BIGINT   NOT NULL,
  client        ${text},
  label         ${text},
  mode          ${letter},
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
) ${table_end};

-- One row per latch.
--   done        ids of steps carried out, each with its deadline
--   watchers    clients to be notified, each with the time until which it wants to be
--   keep_until  the last deadline of these ids: an open latch is not forgotten before
CREATE TABLE IF NOT EXISTS ${latch} (
  name          ${key} NOT NULL PRIMARY KEY,
  remaining     BIGINT   NOT NULL,
  generation    BIGINT   NOT NULL,
  done          ${ids} NOT NULL,
  watchers      ${ids} NOT NULL,
  keep_until    BIGINT   NOT NULL,
  format        SMALLINT NOT NULL
) ${table_end};

-- What the store knows of itself, in one row: its id, the floor of tokens of names that were forgotten, when that was, and how
-- often a hold has been broken.
CREATE TABLE IF NOT EXISTS ${meta} (
  one           INTEGER  NOT NULL PRIMARY KEY,
  id            ${store_id} NOT NULL,
  floor         BIGINT   NOT NULL,
  purged        BIGINT   NOT NULL,
  breaks        BIGINT   NOT NULL,
  format        SMALLINT NOT NULL
) ${table_end};
