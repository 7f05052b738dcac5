// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.benchmarks.sql;

import com.zaxxer.hikari.HikariDataSource;
import io.lockkeeper.benchmarks.race.Contender;
import io.lockkeeper.benchmarks.race.KeptOneByOne;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.provider.jdbctemplate.JdbcTemplateLockProvider;
import org.springframework.jdbc.core.JdbcTemplate;

/** ShedLock on a {@link JdbcTemplate}, with the database's time. It never waits, so this tries again every millisecond. */
final class ShedLockContender implements Contender {
    private static final Duration LONGEST = Duration.ofSeconds(30);

    /** Twice the pool. */
    private static final int KEEPERS = 16;

    private final HikariDataSource pool;
    private final JdbcTemplateLockProvider provider;

    ShedLockContender(Database database, String url) {
        pool = Pools.open(database, url);
        JdbcTemplateLockProvider.Configuration.Builder configuration =
                JdbcTemplateLockProvider.Configuration.builder().withJdbcTemplate(new JdbcTemplate(pool));
        if (database != Database.SQLITE) {
            configuration.usingDbTime();
        }
        provider = new JdbcTemplateLockProvider(configuration.build());
    }

    @Override
    public Held lock(String name) {
        return take(name, LONGEST)::unlock;
    }

    private SimpleLock take(String name, Duration lease) {
        while (true) {
            Optional<SimpleLock> lock = provider.lock(new LockConfiguration(Instant.now(), name, lease, Duration.ZERO));
            if (lock.isPresent()) {
                return lock.get();
            }
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
        }
    }

    @Override
    public Kept keep(int names, Duration lease) throws InterruptedException {
        Map<String, SimpleLock> locks = new ConcurrentHashMap<>();
        return KeptOneByOne.take(names, KEEPERS, lease, new KeptOneByOne.Keeping() {
            @Override
            public void take(String name) {
                locks.put(name, ShedLockContender.this.take(name, lease));
            }

            @Override
            public boolean renew(String name) {
                Optional<SimpleLock> longer =
                        Objects.requireNonNull(locks.get(name)).extend(lease, Duration.ZERO);
                longer.ifPresent(lock -> locks.put(name, lock));
                return longer.isPresent();
            }

            @Override
            public void release(String name) {
                Objects.requireNonNull(locks.get(name)).unlock();
            }
        });
    }

    @Override
    public void close() {
        pool.close();
    }
}
