-- What is written down of it, from its client on.
:client, :label, :mode, :permits, :permit_limit, 0, :block, 0, 0, 0, -1, :lease, :lock_delay, :patience, :deadline, 0
