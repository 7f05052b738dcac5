// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import io.lockkeeper.tck.LockStoreTck;
import io.lockkeeper.tck.StoreFixture;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;

/** H2 follows the rules. */
class H2TckTest extends LockStoreTck {
    @TempDir
    static Path folder;

    @Override
    protected StoreFixture start() {
        return new SqlFixture("jdbc:h2:" + folder.resolve("locks") + ";AUTO_SERVER=TRUE", () -> {});
    }
}
