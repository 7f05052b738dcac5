-- Whether names that differ in case differ in the tables: then upper case comes before lower case.
SELECT 'B' < COALESCE((SELECT MAX(name) FROM ${lock} WHERE 1 = 0), 'a')
