-- The latch's row, locked until the end of the transaction, and the time.
SELECT l.*, ${now} AS at FROM ${latch} l WHERE name = :name ${all} FOR UPDATE
