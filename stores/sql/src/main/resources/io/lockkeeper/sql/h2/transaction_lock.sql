-- Locks a name, by its own row, until the end of the transaction.
SELECT name FROM ${row} WHERE name = :name FOR UPDATE
