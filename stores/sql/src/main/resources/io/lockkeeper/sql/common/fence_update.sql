-- Raises the marks of a name.
UPDATE ${fence} SET exclusive_token = :exclusive, shared_token = :shared WHERE name = :name
