-- Writes down the claim that has taken that place.
${claim_into}
SELECT name, :claim, next_seq - 1, 'W', ${now} + :patience, ${append_values} FROM ${lock} WHERE name = :name
