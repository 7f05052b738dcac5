-- The name's row, and the time. Writing first locks the file until the end of the transaction.
UPDATE ${lock} SET holders = holders WHERE name = :name RETURNING *, ${now} AS at
