// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql.file;

import io.lockkeeper.sql.base.ConnectionSource;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.Properties;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.sqlite.SQLiteConfig;

/**
 * Connections of one store to a SQLite file: one for all steps and one to keep. SQLite has one writer at a time, and
 * threads that wait for each other here wait in order and wake immediately, which those that wait for the file do not.
 */
public final class FileSource implements ConnectionSource, AutoCloseable {
    /** Of the operation timeout, how much a step may wait at the gate: a claim may take three steps within its deadline of two. */
    private static final double SHARE_OF_WAITING = 0.6;

    /** Of the operation timeout, how much a claim may wait in line before that, so that it still comes before its deadline. */
    private static final double SHARE_IN_LINE = 0.2;

    private final Path path;
    private final FileLink link;
    private final Duration timeout;
    private final boolean full;
    private final String owner;
    private final FileSetup.Tables tables;
    private final Properties properties;
    private final ReentrantLock line = new ReentrantLock(true);
    private final SharedFile shared;
    private volatile Runnable whenDisplaced = () -> {};
    private @Nullable FileConnection lent; // to the thread that is first in line
    private FileGate.Order order = FileGate.Order.IN_TURN; // of that thread
    private @Nullable FileConnection idle;
    private boolean closed;

    /**
     * Connections to the file at this path, which must be real and there: it is not made again.
     *
     * @param owner see {@link FileOwners}
     */
    public FileSource(Path path, Duration timeout, boolean full, String owner) {
        this(path, path, timeout, full, owner, fresh -> {
            throw new IOException("it has gone");
        });
    }

    /**
     * The same, where the file was given by another name, which may lead to another file some day.
     *
     * @param tables fills the file when it has to be made again
     */
    FileSource(Path given, Path path, Duration timeout, boolean full, String owner, FileSetup.Tables tables) {
        this.tables = tables;
        this.path = path;
        this.link = new FileLink(given, path);
        this.timeout = timeout;
        this.full = full;
        this.owner = owner;
        SQLiteConfig config = new SQLiteConfig();
        config.setJournalMode(SQLiteConfig.JournalMode.WAL);
        config.setSynchronous(full ? SQLiteConfig.SynchronousMode.FULL : SQLiteConfig.SynchronousMode.NORMAL);
        config.setBusyTimeout((int) timeout.toMillis());
        this.properties = config.toProperties();
        this.shared = SharedFile.join(path, this);
    }

    public Path path() {
        return path;
    }

    public Duration timeout() {
        return timeout;
    }

    String owner() {
        return owner;
    }

    FileSetup.Tables tables() {
        return tables;
    }

    /** Where its steps wait for those of other processes. */
    public FileGate gate() {
        return shared.gate();
    }

    /** How long a step waits for its turn to write. */
    long turnNanos() {
        return (long) (timeout.toNanos() * SHARE_OF_WAITING);
    }

    /** Makes the file if it is missing. */
    void prepare() throws IOException {
        shared.prepare(this);
    }

    // ---- Displaced files ----

    void check(int generation) throws SQLException {
        shared.check(generation);
        lookAtLink();
        link.check();
    }

    /** Looks whether the files are still there, without a step. */
    public void look() {
        shared.look();
        lookAtLink();
    }

    private void lookAtLink() {
        if (link.leadsElsewhere()) {
            displaced();
        }
    }

    /** What to do when they are not. */
    public void whenDisplaced(Runnable action) {
        whenDisplaced = action;
    }

    void displaced() {
        whenDisplaced.run();
    }

    // ---- Connections ----

    @Override
    public Connection pooled() throws SQLException {
        standInLine(timeout.toNanos());
        return lend(order, false);
    }

    /**
     * For threads that only wait: they need no second one. A thread that has come to use it does not stand in line for
     * long.
     */
    @Override
    public @Nullable Connection spare() throws SQLException {
        try {
            return line.tryLock(0, TimeUnit.NANOSECONDS) ? lend(FileGate.Order.IN_TURN, true) : null;
        } catch (InterruptedException e) {
            throw new SQLTransientConnectionException("interrupted while it looked for a connection", "08001", e);
        }
    }

    /** To the thread that is first in line. */
    private FileConnection lend(FileGate.Order where, boolean insists) throws SQLException {
        boolean done = false;
        try {
            FileConnection connection = takeIdle();
            if (connection == null) {
                connection = open(this::giveBack);
            }
            connection.waits(where, insists);
            lent = connection;
            done = true;
            return connection;
        } finally {
            if (!done) {
                line.unlock();
            }
        }
    }

    @Override
    public boolean hasLine() {
        return true;
    }

    @Override
    public <T> T together(Supplier<T> steps) throws SQLException {
        standInLine((long) (timeout.toNanos() * SHARE_IN_LINE));
        try {
            return steps.get();
        } finally {
            line.unlock();
        }
    }

    @Override
    public <T> T ahead(Supplier<T> steps) throws SQLException {
        standInLine(timeout.toNanos());
        FileGate.Order before = order;
        order = FileGate.Order.AT_THE_HEAD;
        try {
            return steps.get();
        } finally {
            order = before;
            line.unlock();
        }
    }

    /**
     * Waits until the threads that came before have used the connection.
     *
     * @param nanos how long to wait in a crowd; where nothing happens at all it may be a little longer, as when the disk is slow
     */
    private void standInLine(long nanos) throws SQLException {
        try {
            if (line.tryLock(0, TimeUnit.NANOSECONDS)) {
                return;
            }
            FileGate.Note before = gate().note();
            if (line.tryLock(nanos, TimeUnit.NANOSECONDS)) {
                return;
            }
            if (!isCrowded(before) && line.tryLock(timeout.toNanos() - nanos, TimeUnit.NANOSECONDS)) {
                return;
            }
            if (isCrowded(before)) {
                throw new FileCrowdedException(path, nanos);
            }
            throw new SQLTransientConnectionException(
                    "no connection to " + path + " was free within " + timeout.toMillis() + " ms", "08001");
        } catch (InterruptedException e) {
            throw new SQLTransientConnectionException("interrupted while it waited for a connection", "08001", e);
        }
    }

    private boolean isCrowded(FileGate.@Nullable Note before) {
        return !Objects.equals(before, gate().note());
    }

    /** The machine's, as SQLite reads it. */
    @Override
    public OptionalLong clock() {
        return OptionalLong.of(TimeUnit.MILLISECONDS.toMicros(System.currentTimeMillis()));
    }

    @Override
    public Connection kept() throws SQLException {
        FileConnection connection = open((kept, usable) -> shared.close(kept));
        connection.waits(FileGate.Order.AT_THE_HEAD, true);
        return connection;
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
        return shared.open(
                this, timeout.toNanos(), generation -> new FileConnection(this, atClose, path, properties, generation));
    }

    private synchronized @Nullable FileConnection takeIdle() throws SQLException {
        if (closed) {
            throw new SQLException("the store is closed", "08003");
        }
        FileConnection connection = idle;
        idle = null;
        return connection == null || connection.isClosed() ? null : connection;
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
        if (lent == connection) { // it may be closed twice
            lent = null;
            line.unlock();
        }
        if (!kept) {
            shared.close(connection);
        }
    }

    /** After all connections that were kept have been closed. */
    @Override
    public void close() {
        FileConnection last;
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
            last = idle;
            idle = null;
        }
        try {
            if (last != null) {
                shared.close(last);
            }
        } catch (SQLException e) {
            // Nothing is lost: what was committed is in the log.
        } finally {
            shared.leave(this);
        }
    }
}
