-- These of a name's claims.
SELECT * FROM ${claim} WHERE name = :name AND claim IN (:claims...) ORDER BY state, seq ${all}
