-- The time.
SELECT ${now} AS at ${all}
