-- The name's row, locked until the end of the transaction, and the time.
SELECT l.*, ${now} AS at FROM ${lock} l WHERE name = :name FOR UPDATE
