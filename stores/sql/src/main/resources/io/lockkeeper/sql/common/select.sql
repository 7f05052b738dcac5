-- The rows of names in use, from one code to before another.
SELECT l.*, ${now} AS at FROM ${lock} l
WHERE name >= :from AND name < :to AND (holders > 0 OR waiters > 0 OR closed_until > ${now}) ORDER BY name
