-- Which of these claims have been granted.
SELECT claim, token, block, expires, confirmed, ${now} AS at FROM ${lock}
WHERE name IN (:names...) AND claim IN (:claims...) AND holders > 0
UNION ALL
SELECT claim, token, block, expires, confirmed, ${now} AS at FROM ${claim}
WHERE name IN (:names...) AND claim IN (:claims...) AND state = 'H'
