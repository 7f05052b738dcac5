-- Takes a name that nobody uses; gives the claim that has it then, with the first token, their number, what is left of the lease,
-- and the time.
${claim_body}
RETURNING claim, token, block, expires - ${now} AS remaining, confirmed, ${now} AS at
