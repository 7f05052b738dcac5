-- Only one client at a time forgets what is idle.
UPDATE ${meta} SET purged = :now WHERE one = 1 AND purged <= :before
