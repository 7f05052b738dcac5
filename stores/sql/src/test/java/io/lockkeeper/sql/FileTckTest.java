// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import io.lockkeeper.tck.LockStoreTck;
import io.lockkeeper.tck.StoreFixture;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;

/** The embedded store follows the rules. */
class FileTckTest extends LockStoreTck {
    @TempDir
    static Path folder;

    @Override
    protected StoreFixture start() {
        return new FileFixture(folder.resolve("state/locks.db"));
    }
}
