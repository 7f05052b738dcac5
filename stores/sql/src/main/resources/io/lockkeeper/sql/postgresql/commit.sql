-- Ends a transaction, in the same trip as its last statements.
COMMIT
