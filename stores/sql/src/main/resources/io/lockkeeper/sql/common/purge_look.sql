-- What there is to do in a portion: I names to be forgotten, L latches, C claims' names, O names whose holders or waiters have been
-- gone since :before and that nobody has looked at since.
SELECT name, 'I' AS kind FROM ${lock} WHERE name > :after AND name <= :last AND ${idle}
UNION ALL
SELECT name, 'L' AS kind FROM ${latch} WHERE name > :after AND name <= :last AND ${idle_latch}
UNION ALL
SELECT name, 'O' AS kind FROM ${lock} WHERE name > :after AND name <= :last
  AND ((holders > 0 AND expires < :before) OR (holders = 0 AND waiters > 0 AND touched < :before))
UNION
SELECT name, 'C' AS kind FROM ${claim} WHERE name > :after AND name <= :last AND ${overdue_claim} ${all}
