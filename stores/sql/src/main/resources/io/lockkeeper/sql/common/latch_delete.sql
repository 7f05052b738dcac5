-- Forgets a latch.
DELETE FROM ${latch} WHERE name = :name
