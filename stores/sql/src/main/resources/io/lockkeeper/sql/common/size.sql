-- How many rows there are; for tests.
SELECT (SELECT COUNT(*) FROM ${lock}) + (SELECT COUNT(*) FROM ${claim}) + (SELECT COUNT(*) FROM ${latch}) ${all}
