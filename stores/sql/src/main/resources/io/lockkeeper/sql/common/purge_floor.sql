-- All names that are going to be forgotten have tokens below :before, which becomes the floor of all later ones.
UPDATE ${meta} SET floor = CASE WHEN floor < :before THEN :before ELSE floor END WHERE one = 1
