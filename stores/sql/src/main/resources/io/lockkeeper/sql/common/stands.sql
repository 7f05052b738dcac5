-- Where these claims stood in their queues when their places were kept, and when what is ahead of them ends: the first holder, other
-- holders, the first waiter to be gone.
SELECT * FROM (
  SELECT c.name, c.claim, ROW_NUMBER() OVER (PARTITION BY c.name ORDER BY c.seq) - 1 AS ahead, c.until - c.patience AS at,
    MIN(c.until) OVER (PARTITION BY c.name) AS first_until, COUNT(*) OVER (PARTITION BY c.name) AS counted,
    l.waiters, l.holders, l.expires,
    (SELECT MIN(h.expires) FROM ${claim} h WHERE h.name = l.name AND h.state = 'H') AS others_expire,
    ${now} AS now
  FROM ${claim} c JOIN ${lock} l ON l.name = c.name
  WHERE c.name IN (:names...) AND c.state = 'W' AND l.format <= 1) q
WHERE claim IN (:claims...) ${all}
