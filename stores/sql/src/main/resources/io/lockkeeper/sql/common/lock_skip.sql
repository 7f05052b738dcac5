-- The same, without those that others have locked.
${lock_rows} SKIP LOCKED
