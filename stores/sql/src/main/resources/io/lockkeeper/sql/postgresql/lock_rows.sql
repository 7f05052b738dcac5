-- The rows of these names, locked until the end of the transaction, and the time after that.
WITH l AS MATERIALIZED (SELECT * FROM ${lock} WHERE name IN (:names...) ORDER BY name FOR UPDATE) SELECT l.*, ${now} AS at FROM l
