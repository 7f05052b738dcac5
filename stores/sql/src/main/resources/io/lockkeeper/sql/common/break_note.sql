-- Has all clients look whether it is a hold of theirs that is being broken.
UPDATE ${meta} SET breaks = breaks + 1 WHERE one = 1
