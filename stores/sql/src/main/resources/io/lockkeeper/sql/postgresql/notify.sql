-- Notifies a client elsewhere.
SELECT pg_notify(:channel, :text)
