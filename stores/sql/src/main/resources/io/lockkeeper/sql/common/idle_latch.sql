-- A latch that is open and of which no id need be kept.
remaining = 0 AND keep_until < :before AND format <= 1
