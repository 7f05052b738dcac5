-- Forgets these names, unless they have been used meanwhile.
DELETE FROM ${lock} WHERE name IN (:names...) AND ${idle}
