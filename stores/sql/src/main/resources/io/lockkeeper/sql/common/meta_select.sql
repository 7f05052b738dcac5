-- What the store knows of itself.
SELECT id, format FROM ${meta} WHERE one = 1 ${all}
