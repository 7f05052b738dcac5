-- The rows of these names, and the time. Writing first locks the file until the end of the transaction.
UPDATE ${lock} SET holders = holders WHERE name IN (:names...) RETURNING *, ${now} AS at
