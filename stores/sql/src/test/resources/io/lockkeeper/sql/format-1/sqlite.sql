-- Tables as format 1 has them, with something in them. Never to be changed: later versions must be able to read it.
CREATE TABLE IF NOT EXISTS "format1_lock" (
  name          TEXT NOT NULL PRIMARY KEY,
  holders       INTEGER  NOT NULL,
  waiters       INTEGER  NOT NULL,
  closed_until  BIGINT   NOT NULL,
  floor         BIGINT   NOT NULL,
  touched       BIGINT   NOT NULL,
  next_seq      BIGINT   NOT NULL,
  strays        TEXT NOT NULL,
  strays_until  BIGINT   NOT NULL,
  format        SMALLINT NOT NULL,
  claim         TEXT,
  client        TEXT,
  label         TEXT,
  mode          TEXT,
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

CREATE TABLE IF NOT EXISTS "format1_claim" (
  name          TEXT NOT NULL,
  claim         TEXT NOT NULL,
  seq           BIGINT   NOT NULL,
  state         TEXT NOT NULL,
  until         BIGINT   NOT NULL,
  client        TEXT,
  label         TEXT,
  mode          TEXT,
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

CREATE TABLE IF NOT EXISTS "format1_latch" (
  name          TEXT NOT NULL PRIMARY KEY,
  remaining     BIGINT   NOT NULL,
  generation    BIGINT   NOT NULL,
  done          TEXT NOT NULL,
  watchers      TEXT NOT NULL,
  keep_until    BIGINT   NOT NULL,
  format        SMALLINT NOT NULL
);

CREATE TABLE IF NOT EXISTS "format1_meta" (
  one           INTEGER  NOT NULL PRIMARY KEY,
  id            TEXT NOT NULL,
  floor         BIGINT   NOT NULL,
  purged        BIGINT   NOT NULL,
  breaks        BIGINT   NOT NULL,
  format        SMALLINT NOT NULL
);

INSERT INTO "format1_meta" (one, id, floor, purged, breaks, format) VALUES (1, '5f0c1b6e-0000-4000-8000-000000000001', 1700000000000000, 1700000000000000, 2, 1);
INSERT INTO "format1_lock" (name, holders, waiters, closed_until, floor, touched, next_seq, strays, strays_until, format, claim, client, label, mode, permits, permit_limit, token, block, since, expires, confirmed, recalled, lease, lock_delay, patience, deadline, stray) VALUES ('nightly%20report', 1, 1, 0, 1700000000000063, 1700000000000000, 2, '', 0, 1, 'aaaa.1', 'billing-7', 'the label', 'X', 1, 0, 1700000000000000, 64, 1700000000000000, 4102444800000000, 1, -1, 30000000, 5000000, 10000000, 1700000002000000, 0);
INSERT INTO "format1_claim" (name, claim, seq, state, until, client, label, mode, permits, permit_limit, token, block, since, expires, confirmed, recalled, lease, lock_delay, patience, deadline, stray) VALUES ('nightly%20report', 'bbbb.2', 1, 'W', 4102444800000000, 'billing-8', '', 'X', 1, 0, 0, 64, 0, 0, 0, -1, 30000000, 0, 10000000, 1700000002000000, 0);
INSERT INTO "format1_lock" (name, holders, waiters, closed_until, floor, touched, next_seq, strays, strays_until, format, claim, client, label, mode, permits, permit_limit, token, block, since, expires, confirmed, recalled, lease, lock_delay, patience, deadline, stray) VALUES ('readers', 2, 0, 0, 1700000000000002, 1700000000000000, 2, '', 0, 1, 'aaaa.3', 'billing-7', '', 'S', 1, 0, 1700000000000001, 1, 1700000000000000, 4102444800000000, 1, -1, 30000000, 0, 10000000, 1700000002000000, 0);
INSERT INTO "format1_claim" (name, claim, seq, state, until, client, label, mode, permits, permit_limit, token, block, since, expires, confirmed, recalled, lease, lock_delay, patience, deadline, stray) VALUES ('readers', 'bbbb.4', 1, 'H', 0, 'billing-8', '', 'S', 1, 0, 1700000000000002, 1, 1700000000000000, 4102444800000000, 1, -1, 30000000, 0, 10000000, 1700000002000000, 0);
INSERT INTO "format1_lock" (name, holders, waiters, closed_until, floor, touched, next_seq, strays, strays_until, format, claim, client, label, mode, permits, permit_limit, token, block, since, expires, confirmed, recalled, lease, lock_delay, patience, deadline, stray) VALUES ('permits', 1, 0, 0, 1700000000000001, 1700000000000000, 1, '', 0, 1, 'aaaa.5', 'billing-7', '', 'P', 2, 3, 1700000000000001, 1, 1700000000000000, 4102444800000000, 1, -1, 30000000, 0, 10000000, 1700000002000000, 0);
INSERT INTO "format1_lock" (name, holders, waiters, closed_until, floor, touched, next_seq, strays, strays_until, format, claim, client, label, mode, permits, permit_limit, token, block, since, expires, confirmed, recalled, lease, lock_delay, patience, deadline, stray) VALUES ('idle', 0, 0, 0, 4102444800000005, 1700000000000000, 1, 'cccc.6=1700000000000000', 1700000000000000, 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO "format1_lock" (name, holders, waiters, closed_until, floor, touched, next_seq, strays, strays_until, format, claim, client, label, mode, permits, permit_limit, token, block, since, expires, confirmed, recalled, lease, lock_delay, patience, deadline, stray) VALUES ('refused', 0, 0, 0, 1700000000000000, 1700000000000000, 1, 'cccc.7=4102444800000000', 4102444800000000, 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO "format1_lock" (name, holders, waiters, closed_until, floor, touched, next_seq, strays, strays_until, format, claim, client, label, mode, permits, permit_limit, token, block, since, expires, confirmed, recalled, lease, lock_delay, patience, deadline, stray) VALUES ('closed', 0, 0, 4102444800000000, 1700000000000000, 1700000000000000, 1, '', 0, 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO "format1_latch" (name, remaining, generation, done, watchers, keep_until, format) VALUES ('ready', 3, 1700000000000000, 'aaaa.8=1700000002000000', 'bbbb=4102444800000000', 1700000002000000, 1);
