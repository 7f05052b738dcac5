// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.benchmarks.sql;

import java.util.List;

/** The tables of the floor and of the peers, as their documentation has them; Lockkeeper makes its own. */
final class Schema {
    private Schema() {}

    static List<String> of(Database database) {
        String time =
                switch (database) {
                    case POSTGRESQL -> "TIMESTAMP";
                    case MARIADB -> "DATETIME(6)";
                    case SQLITE -> "TEXT";
                };
        return List.of(
                "CREATE TABLE raw_lock (name VARCHAR(100) PRIMARY KEY, owner VARCHAR(100) NOT NULL, expires "
                        + (database == Database.SQLITE ? "REAL" : time) + " NOT NULL)",
                "CREATE INDEX raw_lock_owner ON raw_lock (owner)",
                "CREATE TABLE raw_shared (name VARCHAR(100) PRIMARY KEY, readers INT NOT NULL, writer VARCHAR(100))",
                "CREATE TABLE raw_permits (name VARCHAR(100) PRIMARY KEY, used INT NOT NULL)",
                "CREATE TABLE INT_LOCK (LOCK_KEY CHAR(36) NOT NULL, REGION VARCHAR(100) NOT NULL, CLIENT_ID CHAR(36),"
                        + " CREATED_DATE " + time + " NOT NULL, EXPIRED_AFTER " + time + " NOT NULL,"
                        + " CONSTRAINT INT_LOCK_PK PRIMARY KEY (LOCK_KEY, REGION))",
                "CREATE TABLE shedlock (name VARCHAR(64) NOT NULL, lock_until " + time + " NOT NULL, locked_at " + time
                        + " NOT NULL, locked_by VARCHAR(255) NOT NULL, PRIMARY KEY (name))");
    }
}
