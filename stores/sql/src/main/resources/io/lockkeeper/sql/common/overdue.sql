-- Names whose holders or waiters have been gone since :before, and that nobody has looked at since; not all at once.
SELECT name FROM ${lock} WHERE (holders > 0 AND expires < :before) OR (holders = 0 AND waiters > 0 AND touched < :before)
UNION SELECT name FROM ${claim} WHERE (state = 'H' AND expires < :before) OR (state = 'W' AND until < :before)
LIMIT 256
