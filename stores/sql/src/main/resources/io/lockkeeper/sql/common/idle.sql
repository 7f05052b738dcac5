-- A name that has been idle since :before and whose tokens are behind the clock.
holders = 0 AND waiters = 0 AND touched < :before AND closed_until < :before AND floor < :before AND strays_until < :before AND format <= 1
