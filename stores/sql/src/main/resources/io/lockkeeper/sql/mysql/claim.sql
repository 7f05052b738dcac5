-- Takes a name that nobody uses. MySQL cannot return the result in the same statement: claimed.sql does.
${claim_body}
