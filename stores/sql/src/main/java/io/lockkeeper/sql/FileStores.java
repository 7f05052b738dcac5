// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.sql.file.FileSetup;
import io.lockkeeper.sql.file.FileSource;
import io.lockkeeper.sql.file.Mailboxes;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/** Opens stores in SQLite files: {@link FileSetup} finds or makes the file, and what is in it is made here. */
final class FileStores {
    private static final long SETTLES = 3_000_000_000L;

    /** In a crowd it takes as long as the others need to start, too. */
    private static final long CROWD_SETTLES = 60_000_000_000L;

    private static final long BETWEEN_TRIES = 50_000_000;

    private FileStores() {}

    /**
     * Opens the store in this file, which is made if it is missing.
     *
     * @param owner as in {@link FileSetup#open}
     */
    static SqlStore open(Path wanted, Duration timeout, boolean full, String owner) {
        FileSource source = FileSetup.open(
                wanted, timeout, full, owner, fresh -> store(fresh, true).close());
        boolean done = false;
        try {
            SqlStore store = storeWhenSettled(source, full);
            done = true;
            return store;
        } finally {
            if (!done) {
                source.close();
            }
        }
    }

    /**
     * Where somebody has taken away SQLite's log, the file looks damaged until the processes that had it open have
     * noticed, about a second later; and a machine that starts a hundred of us is slow for a while.
     */
    private static SqlStore storeWhenSettled(FileSource source, boolean full) {
        long start = System.nanoTime();
        long settles = Math.max(SETTLES, source.timeout().toNanos());
        while (true) {
            try {
                return store(source, full);
            } catch (StoreUnavailableException e) {
                boolean mayPass = e.worthRepeating() || Failures.isDamaged(e);
                long patience = Failures.isCrowd(e) ? Math.max(CROWD_SETTLES, settles) : settles;
                if (!mayPass || System.nanoTime() - start >= patience) {
                    throw e;
                }
            }
            LockSupport.parkNanos(BETWEEN_TRIES);
        }
    }

    private static SqlStore store(FileSource source, boolean full) {
        Path path = source.path();
        try {
            return new SqlStore(
                    source,
                    SqlOptions.defaults().operationTimeout(source.timeout()).relaxed(!full),
                    Dialect.SQLITE,
                    source,
                    (connections, sql, incarnation) ->
                            new FileWakeUps(connections, sql, incarnation, source, Mailboxes.folderOf(path)));
        } catch (StoreUnavailableException e) {
            throw e.because("the file " + path);
        }
    }
}
