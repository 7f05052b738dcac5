-- The same, without those that others have locked.
WITH l AS MATERIALIZED (SELECT * FROM ${lock} WHERE name IN (:names...) ORDER BY name FOR UPDATE SKIP LOCKED) SELECT l.*, ${now} AS at FROM l
