-- Locks a name, by a row of its own, until the end of the transaction.
SELECT name FROM ${row} WHERE name = :name FOR UPDATE
