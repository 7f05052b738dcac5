// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.benchmarks.sql;

import com.zaxxer.hikari.HikariDataSource;
import io.lockkeeper.benchmarks.race.Contender;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * The floor: what one would write in an afternoon. An upsert takes a name, a delete gives it back, each in autocommit, and
 * an attempt that fails is repeated 0.5 to 1.5 ms later. No queue, no token, no renewal but that of {@link #keep}.
 */
final class RawContender implements Contender {
    private static final int LEASE_SECONDS = 30;

    private final RawSql sql;
    private final HikariDataSource pool;
    private final String client = UUID.randomUUID().toString();
    private final AtomicLong counter = new AtomicLong();
    private final Set<String> known = ConcurrentHashMap.newKeySet();

    RawContender(Database database, String url) {
        this.sql = RawSql.of(database);
        this.pool = Pools.open(database, url);
    }

    @Override
    public Held lock(String name) throws SQLException {
        String owner = client + "-" + counter.incrementAndGet();
        poll(sql.lock(), name, owner, LEASE_SECONDS);
        return () -> expectOne(sql.unlock(), name, owner);
    }

    @Override
    public Held read(String name) throws SQLException {
        ensure(sql.makeShared(), "s-" + name, name);
        poll("UPDATE raw_shared SET readers = readers + 1 WHERE name = ? AND writer IS NULL", name);
        return () -> expectOne("UPDATE raw_shared SET readers = readers - 1 WHERE name = ?", name);
    }

    @Override
    public Held write(String name) throws SQLException {
        ensure(sql.makeShared(), "s-" + name, name);
        poll("UPDATE raw_shared SET writer = ? WHERE name = ? AND writer IS NULL AND readers = 0", client, name);
        return () -> expectOne("UPDATE raw_shared SET writer = NULL WHERE name = ?", name);
    }

    @Override
    public Held permit(String name, int limit) throws SQLException {
        ensure(sql.makePermits(), "p-" + name, name);
        poll("UPDATE raw_permits SET used = used + 1 WHERE name = ? AND used < ?", name, limit);
        return () -> expectOne("UPDATE raw_permits SET used = used - 1 WHERE name = ?", name);
    }

    @Override
    public Kept keep(int names, Duration lease) throws SQLException {
        int seconds = (int) lease.toSeconds();
        AtomicInteger alive = new AtomicInteger(names);
        ScheduledExecutorService renewing = Executors.newSingleThreadScheduledExecutor();
        renewing.scheduleAtFixedRate(
                () -> {
                    try {
                        alive.set(update(sql.renew(), seconds, client));
                    } catch (SQLException e) {
                        alive.set(0);
                    }
                },
                lease.toMillis() / 3,
                lease.toMillis() / 3,
                TimeUnit.MILLISECONDS);
        for (int i = 0; i < names; i++) {
            poll(sql.lock(), "idle-" + i, client, seconds);
        }
        return new Kept() {
            @Override
            public int alive() {
                return alive.get();
            }

            @Override
            public void release() throws SQLException {
                renewing.shutdownNow();
                update("DELETE FROM raw_lock WHERE owner = ?", client);
            }
        };
    }

    /** The row that counts must be there. */
    private void ensure(String insert, String key, String name) throws SQLException {
        if (!known.contains(key)) {
            update(insert, name);
            known.add(key);
        }
    }

    private void poll(String statement, Object... values) throws SQLException {
        while (attempt(statement, values) == 0) {
            LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(500_000, 1_500_000));
        }
    }

    private int attempt(String statement, Object... values) throws SQLException {
        try {
            return update(statement, values);
        } catch (SQLException e) {
            if ("40001".equals(e.getSQLState())) {
                return 0; // a deadlock between upserts of the same row, which MariaDB is known for
            }
            throw e;
        }
    }

    private void expectOne(String statement, Object... values) throws SQLException {
        int changed = update(statement, values);
        if (changed != 1) {
            throw new IllegalStateException("released " + changed + " instead of one");
        }
    }

    private int update(String statement, Object... values) throws SQLException {
        try (Connection connection = pool.getConnection();
                PreparedStatement prepared = connection.prepareStatement(statement)) {
            for (int i = 0; i < values.length; i++) {
                prepared.setObject(i + 1, values[i]);
            }
            return prepared.executeUpdate();
        }
    }

    @Override
    public void close() {
        pool.close();
    }
}
