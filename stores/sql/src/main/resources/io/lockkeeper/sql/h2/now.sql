-- The machine's clock in microseconds, at the beginning of the transaction; see MariaDB's.
CAST(EXTRACT(EPOCH FROM CURRENT_TIMESTAMP(6)) * 1000000 AS BIGINT)
