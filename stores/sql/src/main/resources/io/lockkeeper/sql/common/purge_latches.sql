-- Forgets these latches, unless they have been used meanwhile.
DELETE FROM ${latch} WHERE name IN (:names...) AND ${idle_latch}
