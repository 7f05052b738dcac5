-- Makes all clients look whether it is their hold that is being broken.
UPDATE ${meta} SET breaks = breaks + 1 WHERE one = 1
