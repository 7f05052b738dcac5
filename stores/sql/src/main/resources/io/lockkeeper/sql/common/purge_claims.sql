-- Forgets overdue claims that their name's row does not know of: somebody has emptied one table and not the other.
DELETE FROM ${claim} WHERE ((state = 'H' AND expires < :before) OR (state = 'W' AND until < :before))
  AND name NOT IN (SELECT name FROM ${lock} WHERE holders > 1 OR waiters > 0)
