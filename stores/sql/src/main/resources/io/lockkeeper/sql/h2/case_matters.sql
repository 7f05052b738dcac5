-- Whether names that differ in case differ in the tables: capitals come before small letters then.
SELECT 'B' < COALESCE((SELECT MAX(name) FROM ${lock} WHERE 1 = 0), 'a')
