-- The latch's row, locked until the end of the transaction, and the time after that.
WITH l AS MATERIALIZED (SELECT * FROM ${latch} WHERE name = :name FOR UPDATE) SELECT l.*, ${now} AS at FROM l
