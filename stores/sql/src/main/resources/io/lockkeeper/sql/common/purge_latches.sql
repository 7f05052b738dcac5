-- Forgets latches that are open and of which no id need be kept.
DELETE FROM ${latch} WHERE remaining = 0 AND keep_until < :before AND format <= 1
