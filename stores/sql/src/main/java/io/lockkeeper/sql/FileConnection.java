// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import java.nio.file.Path;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Properties;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
import org.sqlite.BusyHandler;
import org.sqlite.jdbc4.JDBC4Connection;

/** A connection to a SQLite file; its source says what closing it means. */
final class FileConnection extends JDBC4Connection {
    private final FileSource source;
    private final AtClose atClose;
    private volatile boolean usable = true;

    /** What is done instead of closing. */
    interface AtClose {
        void closed(FileConnection connection, boolean usable) throws SQLException;
    }

    FileConnection(FileSource source, AtClose atClose, Path path, Properties properties, Duration timeout)
            throws SQLException {
        super("jdbc:sqlite:" + path, path.toString(), properties);
        this.source = source;
        this.atClose = atClose;
        BusyHandler.setHandler(this, new Patience(timeout));
    }

    @Override
    public PreparedStatement prepareStatement(String sql) throws SQLException {
        try {
            source.ensureInPlace();
        } catch (SQLException e) {
            usable = false;
            throw e;
        }
        return super.prepareStatement(sql);
    }

    @Override
    public void close() throws SQLException {
        atClose.closed(this, usable && getAutoCommit());
    }

    void end() throws SQLException {
        super.close();
    }

    /**
     * Waits for another process that writes. SQLite's own way sleeps for up to 100 ms at a time; a step of ours takes
     * less than one.
     */
    private static final class Patience extends BusyHandler {
        private static final long SHORTEST = 50_000;
        private static final long LONGEST = 2_000_000;

        private final long nanos;
        private long since;

        Patience(Duration timeout) {
            this.nanos = timeout.toNanos();
        }

        @Override
        protected int callback(int times) {
            long now = System.nanoTime();
            if (times == 0) {
                since = now;
            } else if (now - since >= nanos) {
                return 0;
            }
            long most = Math.min(LONGEST, SHORTEST << Math.min(times + 1, 10));
            boolean interrupted = Thread.interrupted(); // it would end the rest at once
            LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(SHORTEST, most));
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
            return 1;
        }
    }
}
