-- The latch's row, and the time. Writing first locks the file until the end of the transaction.
UPDATE ${latch} SET remaining = remaining WHERE name = :name RETURNING *, ${now} AS at
