-- The server's clock in microseconds; UTC, whatever the session's zone. It is that of the statement's beginning, so that after a wait
-- for a row it is late by that wait: leases end no earlier for it, and a claim may be carried out that much after its deadline.
TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))
