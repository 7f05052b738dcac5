-- Only one client at a time forgets idle names. All that it will forget have tokens below :before, which becomes their floor.
UPDATE ${meta} SET purged = :now, floor = CASE WHEN floor < :before THEN :before ELSE floor END
WHERE one = 1 AND purged <= :before
