-- Gives the store its id.
INSERT INTO ${meta} (one, id, floor, purged, breaks, format) VALUES (1, :id, 0, 0, 0, 1)
