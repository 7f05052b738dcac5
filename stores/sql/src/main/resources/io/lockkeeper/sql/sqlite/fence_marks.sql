-- The marks of a name. The whole file is locked already.
SELECT exclusive_token, shared_token, format FROM ${fence} WHERE name = :name
