-- The rows of these names, locked until the end of the transaction, and the time.
SELECT l.*, ${now} AS at FROM ${lock} l WHERE name IN (:names...) ORDER BY name ${all} FOR UPDATE
