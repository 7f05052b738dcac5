-- The marks of a name, locked until the end of the transaction.
SELECT exclusive_token, shared_token, format FROM ${fence} WHERE name = :name ${all} FOR UPDATE
