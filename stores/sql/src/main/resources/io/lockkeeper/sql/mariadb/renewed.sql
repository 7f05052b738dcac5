-- Which holds were kept. One that has become the first of its name only since then has not been lengthened, and is left out
-- unless it lasts all the same.
SELECT claim, expires - ${now} AS remaining, ${now} AS at FROM ${lock}
WHERE name IN (:names...) AND claim IN (:claims...) AND holders > 0 AND recalled < 0 AND confirmed = 1 AND expires - ${now} > :lease / 2 AND format <= 1 ${all}
