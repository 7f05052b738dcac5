-- Holds that are being broken.
SELECT claim FROM ${lock} WHERE holders > 0 AND recalled >= 0
UNION ALL
SELECT claim FROM ${claim} WHERE state = 'H' AND recalled >= 0 ${all}
