-- Takes a name that nobody uses. MySQL cannot tell in the same statement what came of it: claimed.sql does.
${claim_body}
