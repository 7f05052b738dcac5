-- Forgets overdue claims of these names that their name's row does not know of: somebody has emptied one table and not the other.
DELETE FROM ${claim} WHERE name IN (:names...) AND ${overdue_claim}
  AND name NOT IN (SELECT name FROM ${lock} WHERE name IN (:names...) AND (holders > 1 OR waiters > 0))
