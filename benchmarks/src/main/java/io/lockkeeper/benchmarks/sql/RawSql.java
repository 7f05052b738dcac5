// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.benchmarks.sql;

/**
 * The statements of the floor.
 *
 * @param lock name, owner, seconds; changes a row if it was free
 * @param unlock name, owner
 * @param renew seconds, owner
 * @param makeShared name
 * @param makePermits name
 */
record RawSql(String lock, String unlock, String renew, String makeShared, String makePermits) {
    private static final String UNLOCK = "DELETE FROM raw_lock WHERE name = ? AND owner = ?";

    static RawSql of(Database database) {
        return switch (database) {
            case POSTGRESQL ->
                new RawSql(
                        conflict("LOCALTIMESTAMP + ? * INTERVAL '1 second'", "LOCALTIMESTAMP"),
                        UNLOCK,
                        "UPDATE raw_lock SET expires = LOCALTIMESTAMP + ? * INTERVAL '1 second' WHERE owner = ?",
                        "INSERT INTO raw_shared VALUES (?, 0, NULL) ON CONFLICT DO NOTHING",
                        "INSERT INTO raw_permits VALUES (?, 0) ON CONFLICT DO NOTHING");
            case SQLITE ->
                new RawSql(
                        conflict("unixepoch('subsec') + ?", "unixepoch('subsec')"),
                        UNLOCK,
                        "UPDATE raw_lock SET expires = unixepoch('subsec') + ? WHERE owner = ?",
                        "INSERT INTO raw_shared VALUES (?, 0, NULL) ON CONFLICT DO NOTHING",
                        "INSERT INTO raw_permits VALUES (?, 0) ON CONFLICT DO NOTHING");
            case MARIADB ->
                new RawSql(
                        "INSERT INTO raw_lock (name, owner, expires) VALUES (?, ?, NOW(6) + INTERVAL ? SECOND)"
                                + " ON DUPLICATE KEY UPDATE owner = IF(expires < NOW(6), VALUES(owner), owner),"
                                + " expires = IF(expires < NOW(6), VALUES(expires), expires)",
                        UNLOCK,
                        "UPDATE raw_lock SET expires = NOW(6) + INTERVAL ? SECOND WHERE owner = ?",
                        "INSERT IGNORE INTO raw_shared VALUES (?, 0, NULL)",
                        "INSERT IGNORE INTO raw_permits VALUES (?, 0)");
        };
    }

    private static String conflict(String expires, String now) {
        return "INSERT INTO raw_lock (name, owner, expires) VALUES (?, ?, " + expires + ") ON CONFLICT (name) DO UPDATE"
                + " SET owner = excluded.owner, expires = excluded.expires WHERE raw_lock.expires < " + now;
    }
}
