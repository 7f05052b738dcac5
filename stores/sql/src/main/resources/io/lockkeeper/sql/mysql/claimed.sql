-- The claim that has the name, with the first token, their number, what is left of the lease, and the time.
SELECT claim, token, block, expires - ${now} AS remaining, confirmed, ${now} AS at FROM ${lock} WHERE name = :name AND holders > 0 ${all}
