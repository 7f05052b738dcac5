-- Names whose holders or waiters have been gone since :before, and that nobody has looked at since.
SELECT name FROM ${lock} WHERE holders > 0 AND expires < :before
UNION SELECT name FROM ${claim} WHERE (state = 'H' AND expires < :before) OR (state = 'W' AND until < :before)
