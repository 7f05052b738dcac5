-- Settings that matter, and their values.
SELECT 'sql_mode', @@sql_mode ${all}
