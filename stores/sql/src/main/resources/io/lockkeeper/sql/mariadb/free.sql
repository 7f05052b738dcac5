-- Whether nobody uses the name of the row that is there.
holders = 0 AND waiters = 0 AND closed_until <= VALUES(since) AND strays_until < VALUES(since) AND format <= 1 AND ${now} <= VALUES(deadline)
