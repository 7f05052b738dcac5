-- The same: nobody else can have locked any.
${lock_rows}
