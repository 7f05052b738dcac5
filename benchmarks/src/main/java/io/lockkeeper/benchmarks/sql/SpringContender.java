// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.benchmarks.sql;

import com.zaxxer.hikari.HikariDataSource;
import io.lockkeeper.benchmarks.race.Contender;
import io.lockkeeper.benchmarks.race.SpringLocks;
import java.time.Duration;
import org.springframework.integration.jdbc.lock.DefaultLockRepository;
import org.springframework.integration.jdbc.lock.JdbcLockRegistry;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.DefaultTransactionDefinition;

/** Spring Integration's {@link JdbcLockRegistry}, with its defaults. */
final class SpringContender implements Contender {
    private final HikariDataSource pool;
    private final DefaultLockRepository repository;
    private final JdbcLockRegistry registry;

    SpringContender(Database database, String url) {
        pool = Pools.open(database, url);
        repository = new DefaultLockRepository(pool);
        repository.setTransactionManager(
                database == Database.SQLITE ? new OneIsolation(pool) : new JdbcTransactionManager(pool));
        repository.afterPropertiesSet();
        repository.afterSingletonsInstantiated();
        repository.start();
        registry = new JdbcLockRegistry(repository);
    }

    @Override
    public Held lock(String name) throws InterruptedException {
        return SpringLocks.lock(registry, name);
    }

    @Override
    public Kept keep(int names, Duration lease) throws InterruptedException {
        JdbcLockRegistry kept = new JdbcLockRegistry(repository, lease);
        return SpringLocks.keep(kept, names, lease);
    }

    @Override
    public void close() {
        repository.close();
        pool.close();
    }

    /** SQLite is serializable, and its driver refuses to be asked for less. */
    private static final class OneIsolation extends JdbcTransactionManager {
        OneIsolation(HikariDataSource pool) {
            super(pool);
        }

        @Override
        protected void doBegin(Object transaction, TransactionDefinition definition) {
            DefaultTransactionDefinition plain = new DefaultTransactionDefinition(definition);
            plain.setIsolationLevel(TransactionDefinition.ISOLATION_DEFAULT);
            plain.setReadOnly(false);
            super.doBegin(transaction, plain);
        }
    }
}
