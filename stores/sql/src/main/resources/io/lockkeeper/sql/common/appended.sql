-- How many are ahead of the claim that has taken that place, when the first holder expires, and the time.
SELECT waiters - 1 AS ahead, expires, ${now} AS at FROM ${lock} WHERE name = :name ${all}
