-- All rows: the setting sql_select_limit cuts off the others of a SELECT that does not say how many, and a holder that is not
-- seen would hold nothing.
LIMIT 18446744073709551615
