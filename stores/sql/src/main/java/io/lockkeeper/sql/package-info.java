// SPDX-License-Identifier: Apache-2.0
/** Locks in a relational database: PostgreSQL, MariaDB, MySQL, SQLite, H2. */
@NullMarked
package io.lockkeeper.sql;

import org.jspecify.annotations.NullMarked;
