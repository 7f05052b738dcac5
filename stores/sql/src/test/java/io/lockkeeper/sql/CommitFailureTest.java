// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lockkeeper.Lease;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.StoreUnavailableException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.Statement;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** SQLite gives the rows of a statement before it commits, so that a commit may fail after all has been read that was wanted. */
class CommitFailureTest {
    @TempDir
    Path folder;

    private Lockkeeper keeper() {
        return Lockkeeper.builder("jdbc:sqlite:" + file() + "?journal_mode=DELETE")
                .operationTimeout(Duration.ofMillis(500))
                .build();
    }

    private Path file() {
        return folder.resolve("locks.db");
    }

    /** Without a write-ahead log nobody can commit while somebody reads. */
    @Test
    void aGrantWhoseCommitFailsIsNoGrant() throws Exception {
        try (Lockkeeper a = keeper();
                Lockkeeper b = keeper()) {
            a.lock("before").acquire().close();
            try (Connection reader = DriverManager.getConnection("jdbc:sqlite:" + file());
                    Statement statement = reader.createStatement()) {
                reader.setAutoCommit(false);
                try (ResultSet rows = statement.executeQuery("SELECT COUNT(*) FROM lockkeeper_lock")) {
                    assertThat(rows.next()).isTrue();
                }
                for (Lockkeeper keeper : new Lockkeeper[] {a, b}) {
                    assertThatThrownBy(() -> keeper.lock("x").tryAcquire())
                            .isInstanceOf(StoreUnavailableException.class);
                }
                reader.rollback();
            }
            Lease lease = a.lock("x").acquire();
            assertThat(b.lock("x").tryAcquire()).isEmpty();
            assertThat(lease.release()).isTrue();
        }
    }
}
