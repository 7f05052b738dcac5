-- Keeps places in queues; stands.sql says where they are. What has been silent for longer than its patience has left the queue.
-- Where a holder is overdue nothing is kept here: its end may take those with it that have been silent, and that is decided
-- first.
UPDATE ${claim} AS c SET until = ${now} + patience
WHERE name IN (:names...) AND claim IN (:claims...) AND state = 'W' AND until > ${now}
  AND EXISTS (SELECT 1 FROM ${lock} l WHERE l.name = c.name AND l.format <= 1 AND l.holders > 0 AND l.expires > ${now})
  AND NOT EXISTS (SELECT 1 FROM ${claim} h WHERE h.name = c.name AND h.state = 'H' AND h.expires <= ${now})
