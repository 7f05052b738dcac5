// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import io.lockkeeper.tck.LockStoreTck;
import io.lockkeeper.tck.StoreFixture;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;

/** SQLite follows the rules. */
class SqliteTckTest extends LockStoreTck {
    @TempDir
    static Path folder;

    @Override
    protected StoreFixture start() {
        return new SqlFixture("jdbc:sqlite:" + folder.resolve("locks.db"), () -> {});
    }
}
