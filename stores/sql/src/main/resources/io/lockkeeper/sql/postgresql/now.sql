-- The server's clock in microseconds, not the transaction's.
(extract(epoch FROM clock_timestamp()) * 1000000)::bigint
