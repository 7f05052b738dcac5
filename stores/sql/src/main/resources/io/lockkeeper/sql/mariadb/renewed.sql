-- Which holds were kept: what can be renewed now could be a moment ago.
SELECT claim, expires - ${now} AS remaining, ${now} AS at FROM ${lock}
WHERE name IN (:names...) AND claim IN (:claims...) AND recalled < 0 AND confirmed = 1 AND expires > ${now} AND format <= 1
