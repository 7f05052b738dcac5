// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql.file;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
import org.sqlite.BusyHandler;
import org.sqlite.SQLiteConnection;

/**
 * How a connection to a SQLite file waits for another one that writes. SQLite's own handler sleeps for up to 100 ms at
 * a time, and the connection that sleeps longest is overtaken by all others; one of our steps takes less than one.
 * Connections that use a {@link FileGate} rarely need it.
 */
public final class BusyRetry extends BusyHandler {
    private static final long SHORTEST = 50_000;
    private static final long LONGEST = 2_000_000;

    /** How long to wait for a writer that has taken longer than a step takes. */
    private static final long HURRIED = 20_000_000;

    private final long nanos;
    private volatile boolean hurries;
    private long since;

    private BusyRetry(Duration timeout) {
        this.nanos = timeout.toNanos();
    }

    /** From now on, the connection waits like this, for that long. */
    public static BusyRetry give(Connection connection, Duration timeout) throws SQLException {
        BusyRetry busyRetry = new BusyRetry(timeout);
        BusyHandler.setHandler(connection.unwrap(SQLiteConnection.class), busyRetry);
        return busyRetry;
    }

    /** Whether to wait only for a moment, because others have waited for long already. */
    void hurry(boolean hurry) {
        hurries = hurry;
    }

    @Override
    protected int callback(int times) {
        long now = System.nanoTime();
        if (times == 0) {
            since = now;
        } else if (now - since >= (hurries ? HURRIED : nanos)) {
            return 0;
        }
        long most = Math.min(LONGEST, SHORTEST << Math.min(times + 1, 10));
        boolean interrupted = Thread.interrupted(); // it would end the rest immediately
        LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(SHORTEST, most));
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        return 1;
    }
}
