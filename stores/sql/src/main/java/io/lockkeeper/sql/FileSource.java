// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Properties;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.sqlite.SQLiteConfig;

/**
 * Connections to one SQLite file: one for all steps and one to keep. SQLite has one writer at a time, and threads that
 * wait for each other here wait in order and wake at once, which those that wait for the file do not.
 */
final class FileSource implements Connections.Source, AutoCloseable {
    private final Path path;
    private final Duration timeout;
    private final boolean full;
    private final Properties properties;
    private final Semaphore permits = new Semaphore(1, true);
    private final @Nullable Object key;
    private @Nullable FileConnection idle;
    private boolean closed;

    FileSource(Path path, Duration timeout, boolean full) {
        this.path = path;
        this.timeout = timeout;
        this.full = full;
        SQLiteConfig config = new SQLiteConfig();
        config.setJournalMode(SQLiteConfig.JournalMode.WAL);
        config.setSynchronous(full ? SQLiteConfig.SynchronousMode.FULL : SQLiteConfig.SynchronousMode.NORMAL);
        // A transaction of ours always writes: begun as a reader, it might not be let through later.
        config.setTransactionMode(SQLiteConfig.TransactionMode.IMMEDIATE);
        config.setBusyTimeout((int) timeout.toMillis());
        this.properties = config.toProperties();
        this.key = key();
    }

    private @Nullable Object key() {
        try {
            return Files.readAttributes(path, BasicFileAttributes.class).fileKey();
        } catch (IOException e) {
            return null;
        }
    }

    /** SQLite would go on with a file that was removed or replaced, while others lock in the new one. */
    void ensureInPlace() throws SQLException {
        if (key == null || !key.equals(key())) {
            throw new SQLException("the file " + path + " was removed or replaced while it was in use", "08006");
        }
    }

    @Override
    public Connection pooled() throws SQLException {
        try {
            if (!permits.tryAcquire(timeout.toNanos(), TimeUnit.NANOSECONDS)) {
                throw new SQLTransientConnectionException(
                        "no connection to " + path + " was free within " + timeout.toMillis() + " ms", "08001");
            }
        } catch (InterruptedException e) {
            throw new SQLTransientConnectionException("interrupted while it waited for a connection", "08001", e);
        }
        boolean done = false;
        try {
            FileConnection connection = takeIdle();
            if (connection == null) {
                connection = open(this::giveBack);
            }
            done = true;
            return connection;
        } finally {
            if (!done) {
                permits.release();
            }
        }
    }

    @Override
    public Connection kept() throws SQLException {
        return open((connection, usable) -> connection.end());
    }

    @Override
    public void lazy(Connection connection, boolean lazy) throws SQLException {
        if (full) {
            try (Statement s = connection.createStatement()) {
                s.execute(lazy ? "PRAGMA synchronous = NORMAL" : "PRAGMA synchronous = FULL");
            }
        }
    }

    private FileConnection open(FileConnection.AtClose atClose) throws SQLException {
        ensureInPlace();
        return new FileConnection(this, atClose, path, properties, timeout);
    }

    private synchronized @Nullable FileConnection takeIdle() throws SQLException {
        if (closed) {
            throw new SQLException("the store is closed", "08003");
        }
        FileConnection connection = idle;
        idle = null;
        return connection;
    }

    /** A connection has been used; a broken one ends here. */
    private void giveBack(FileConnection connection, boolean usable) throws SQLException {
        boolean kept = false;
        synchronized (this) {
            if (usable && !closed) {
                idle = connection;
                kept = true;
            }
        }
        try {
            if (!kept) {
                connection.end();
            }
        } finally {
            permits.release();
        }
    }

    @Override
    public synchronized void close() {
        closed = true;
        if (idle != null) {
            try {
                idle.end();
            } catch (SQLException e) {
                // Nothing is lost: what was committed is in the log.
            }
            idle = null;
        }
    }
}
