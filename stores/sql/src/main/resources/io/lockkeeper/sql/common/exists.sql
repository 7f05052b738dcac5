-- Whether the tables are there.
SELECT COUNT(*) FROM ${lock} l, ${claim} c, ${latch} a, ${meta} m WHERE 1 = 0 ${all}
