-- Locks a name, by its key, until the end of the transaction.
SELECT pg_advisory_xact_lock(:key)
