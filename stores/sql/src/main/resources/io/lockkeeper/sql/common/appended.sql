-- How many are ahead of who has taken that place, and the time.
SELECT waiters - 1 AS ahead, ${now} AS at FROM ${lock} WHERE name = :name
