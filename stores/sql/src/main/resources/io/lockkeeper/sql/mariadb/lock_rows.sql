-- The rows of these names, locked until the end of the transaction, and the time. By the key: a scan would wait for others' rows.
SELECT l.*, ${now} AS at FROM ${lock} l FORCE INDEX (PRIMARY) WHERE name IN (:names...) ORDER BY name ${all} FOR UPDATE
