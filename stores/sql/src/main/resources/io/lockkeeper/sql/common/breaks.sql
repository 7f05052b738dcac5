-- How often a hold has been broken.
SELECT breaks FROM ${meta} WHERE one = 1 ${all}
