-- All settings and their values; the columns have other names with OLD_INFORMATION_SCHEMA.
SELECT * FROM INFORMATION_SCHEMA.SETTINGS
