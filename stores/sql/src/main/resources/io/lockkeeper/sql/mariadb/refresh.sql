-- Keeps places in queues; stands.sql says where they are. The names' rows are locked first, for this statement: so that one that is
-- handing over just now comes before or after it. What has been silent for longer than its patience has left the queue. Where a
-- holder is overdue nothing is kept here: its end may take those with it that have been silent, and that is decided first.
UPDATE ${lock} l FORCE INDEX (PRIMARY) STRAIGHT_JOIN ${claim} c ON c.name = l.name
SET l.waiters = l.waiters, c.until = ${now} + c.patience
WHERE l.name IN (:names...) AND l.format <= 1 AND l.holders > 0 AND l.expires > ${now}
  AND c.claim IN (:claims...) AND c.state = 'W' AND c.until > ${now}
  AND l.name NOT IN (
    SELECT * FROM (SELECT DISTINCT h.name FROM ${claim} h WHERE h.name IN (:names...) AND h.state = 'H' AND h.expires <= ${now}) overdue)
