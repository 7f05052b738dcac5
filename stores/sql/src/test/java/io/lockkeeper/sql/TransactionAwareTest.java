// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lockkeeper.Lease;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.StoreUnavailableException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.transaction.support.TransactionTemplate;

/** Data sources that give callers the connection of their own transaction: it is neither committed nor joined. H102 */
class TransactionAwareTest {
    private static final Db DB = Db.POSTGRESQL;

    private static SqlOptions options() {
        return SqlOptions.defaults().tablePrefix(Db.freshPrefix()).operationTimeout(Duration.ofSeconds(5));
    }

    private static String table() throws Exception {
        String mine = Db.freshPrefix() + "mine";
        DB.execute("CREATE TABLE " + mine + " (x INTEGER)");
        return mine;
    }

    private interface Call {
        Connection get() throws Exception;
    }

    /** A data source of which nothing is known. */
    private static DataSource source(Call getConnection) {
        return (DataSource) Proxy.newProxyInstance(
                DataSource.class.getClassLoader(),
                new Class<?>[] {DataSource.class},
                (p, method, arguments) -> switch (method.getName()) {
                    case "getConnection" -> getConnection.get();
                    case "isWrapperFor" -> false;
                    default -> throw new UnsupportedOperationException(method.getName());
                });
    }

    @Test
    void springsProxyIsRejected() throws Exception {
        String mine = table();
        try (UserPool.Opened pool = UserPool.HIKARI.open(DB.url(), 6, true)) {
            DataSource aware = new TransactionAwareDataSourceProxy(pool.source());
            new TransactionTemplate(new DataSourceTransactionManager(pool.source())).executeWithoutResult(status -> {
                new JdbcTemplate(aware).update("INSERT INTO " + mine + " VALUES (1)");
                assertThatThrownBy(() -> SqlStore.of(aware, options()))
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessageContaining("getTargetDataSource");
                assertThatThrownBy(() -> SqlStore.of(new DelegatingDataSource(aware), options()))
                        .as("wrapped")
                        .isInstanceOf(IllegalArgumentException.class);
                status.setRollbackOnly();
            });
            assertThat(DB.query("SELECT COUNT(*) FROM " + mine)).isEqualTo("0");
        }
    }

    @Test
    void aTransactionBoundToTheCallersThreadIsNotJoined() throws Exception {
        String mine = table();
        try (UserPool.Opened pool = UserPool.HIKARI.open(DB.url(), 6, true)) {
            DataSource aware = new TransactionAwareDataSourceProxy(pool.source());
            try (SqlStore store = SqlStore.of(source(aware::getConnection), options());
                    Lockkeeper keeper = Lockkeeper.on(store)) {
                AtomicReference<Lease> lease = new AtomicReference<>();
                new TransactionTemplate(new DataSourceTransactionManager(pool.source()))
                        .executeWithoutResult(status -> {
                            new JdbcTemplate(aware).update("INSERT INTO " + mine + " VALUES (1)");
                            lease.set(keeper.lock("a").tryAcquire().orElseThrow());
                            new JdbcTemplate(aware).update("INSERT INTO " + mine + " VALUES (2)");
                            status.setRollbackOnly();
                        });
                assertThat(DB.query("SELECT COUNT(*) FROM " + mine))
                        .as("the caller's")
                        .isEqualTo("0");
                assertThat(keeper.inspector().inspect("a")).as("ours").isPresent();
                assertThat(lease.get().release()).isTrue();
            }
        }
    }

    @Test
    void aConnectionInATransactionIsReturnedAsItIs() throws Exception {
        String mine = table();
        AtomicReference<Connection> callers = new AtomicReference<>();
        DataSource source = source(() -> callers.get() == null ? DB.connect() : unclosed(callers.get()));
        try (Connection connection = DB.connect();
                SqlStore store = SqlStore.of(source, options());
                Lockkeeper keeper = Lockkeeper.on(store)) {
            keeper.lock("a").acquire().close();
            connection.setAutoCommit(false);
            try (Statement s = connection.createStatement()) {
                s.execute("INSERT INTO " + mine + " VALUES (1)");
            }
            callers.set(connection);
            assertThatThrownBy(() -> keeper.lock("a").tryAcquire())
                    .isInstanceOf(StoreUnavailableException.class)
                    .hasMessageContaining("autocommit off");
            callers.set(null);
            connection.rollback();
            assertThat(DB.query("SELECT COUNT(*) FROM " + mine)).isEqualTo("0");
            keeper.lock("a").acquire().close();
        }
    }

    private static Connection unclosed(Connection connection) {
        return (Connection) Proxy.newProxyInstance(
                Connection.class.getClassLoader(), new Class<?>[] {Connection.class}, (p, method, arguments) -> {
                    if (method.getName().equals("close")) {
                        return null;
                    }
                    try {
                        return method.invoke(connection, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    @Test
    void oneConnectionForAllIsRejected() throws Exception {
        try (Connection connection = DB.connect()) {
            DataSource single = new SingleConnectionDataSource(connection, true);
            assertThatThrownBy(() -> SqlStore.of(single, options()))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("the same connection");
        }
    }
}
