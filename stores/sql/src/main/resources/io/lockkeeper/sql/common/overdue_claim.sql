-- A holder but the first, or a waiter, that has been gone since :before.
((state = 'H' AND expires < :before) OR (state = 'W' AND until < :before))
