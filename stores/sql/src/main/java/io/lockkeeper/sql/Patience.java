// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
import org.sqlite.BusyHandler;
import org.sqlite.SQLiteConnection;

/**
 * How a connection to a SQLite file waits for another one that writes. SQLite's own way sleeps for up to 100 ms at a time,
 * and whoever sleeps longest is overtaken by all others; a step of ours takes less than one. Those who use a {@link FileGate} rarely
 * come to it.
 */
final class Patience extends BusyHandler {
    private static final long SHORTEST = 50_000;
    private static final long LONGEST = 2_000_000;

    /** How long to wait for one who has been at it for longer than a step takes. */
    private static final long HURRIED = 20_000_000;

    private final long nanos;
    private volatile boolean hurries;
    private long since;

    private Patience(Duration timeout) {
        this.nanos = timeout.toNanos();
    }

    /** From now on, the connection waits like this, for that long. */
    static Patience give(Connection connection, Duration timeout) throws SQLException {
        Patience patience = new Patience(timeout);
        BusyHandler.setHandler(connection.unwrap(SQLiteConnection.class), patience);
        return patience;
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
        boolean interrupted = Thread.interrupted(); // it would end the rest at once
        LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(SHORTEST, most));
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        return 1;
    }
}
