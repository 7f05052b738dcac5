-- Looks at a latch.
SELECT remaining, generation, format, ${now} AS at FROM ${latch} WHERE name = :name
