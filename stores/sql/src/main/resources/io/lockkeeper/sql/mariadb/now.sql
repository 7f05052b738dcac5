-- The server's clock in microseconds; UTC, whatever the session's zone.
TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))
