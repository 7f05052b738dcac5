// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.lockkeeper.StoreUnavailableException;
import java.sql.Connection;
import java.sql.Driver;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** A small pool of our own, when a store is made from a URL. What is kept for long does not come from it. */
final class Pool implements Connections.Source, AutoCloseable {
    /** Steps at a time; more would only wait for each other in the database. */
    private static final int SIZE = 8;

    private static final Pattern IN_MEMORY = Pattern.compile("^jdbc:sqlite:($|\\?|:memory:|file::memory:)");

    /** One for each database with one writer at a time that this process uses; there are few. */
    private static final Map<String, ReentrantLock> TURNS = new ConcurrentHashMap<>();

    private final HikariDataSource pool;
    private final Driver driver;
    private final String url;
    private final Properties properties;
    private final UrlDefaults defaults;
    private final @Nullable Duration patience;
    private volatile @Nullable Connection patient;

    private Pool(HikariDataSource pool, Driver driver, String url, Properties properties, UrlDefaults defaults) {
        this.pool = pool;
        this.driver = driver;
        this.url = url;
        this.properties = properties;
        this.defaults = defaults;
        String busy = defaults.properties().get(UrlDefaults.BUSY);
        boolean isOurs = busy != null && busy.equals(properties.getProperty(UrlDefaults.BUSY));
        this.patience = isOurs ? Duration.ofMillis(Long.parseLong(busy)) : null;
    }

    static SqlStore open(String url, Map<String, String> parameters, SqlOptions options, @Nullable Dialect dialect) {
        if (IN_MEMORY.matcher(url).find()) {
            throw new IllegalArgumentException("each connection to a SQLite database in memory has one of its own;"
                    + " use memory: for locks within this process, or a file");
        }
        Driver driver = driver(url);
        UrlDefaults defaults = UrlDefaults.of(url, options);
        Properties properties = new Properties();
        defaults.properties().forEach((name, value) -> {
            if (!url.contains(name + "=")) {
                properties.setProperty(name, value);
            }
        });
        parameters.forEach((name, value) -> {
            String ours = properties.getProperty(name);
            // Of several settings in one parameter, the last of the same name counts.
            boolean adds = name.equals(UrlDefaults.SETTINGS) && ours != null;
            properties.setProperty(name, adds ? ours + " " + value : value);
        });
        HikariConfig config = new HikariConfig();
        config.setPoolName("lockkeeper");
        config.setJdbcUrl(url);
        config.setDataSourceProperties(properties);
        config.setMaximumPoolSize(defaults.isOneWriter() ? 1 : SIZE);
        config.setMinimumIdle(1);
        config.setConnectionTimeout(Math.max(250, options.timeoutMillis()));
        config.setValidationTimeout(Math.max(250, options.timeoutMillis()));
        config.setInitializationFailTimeout(-1);
        if (defaults.initial() != null) {
            config.setConnectionInitSql(defaults.initial());
        }
        if (!defaults.isOneWriter()) {
            config.setTransactionIsolation("TRANSACTION_READ_COMMITTED");
        }
        try {
            // The first connection by itself: its failure is told as it is, and at once.
            connect(driver, url, properties).close();
            Pool pool = new Pool(new HikariDataSource(config), driver, url, properties, defaults);
            try {
                return new SqlStore(pool, options, dialect, pool);
            } catch (RuntimeException | Error e) {
                pool.close();
                throw e;
            }
        } catch (SQLException e) {
            throw Failures.of(e);
        }
    }

    private static Driver driver(String url) {
        try {
            return DriverManager.getDriver(url);
        } catch (SQLException e) {
            // Its message would show the URL.
            String[] words = url.split(":", 3);
            throw new IllegalArgumentException("no JDBC driver for " + words[0] + ":" + words[1]
                    + ": is on the path; add that of your database, such as org.postgresql:postgresql");
        }
    }

    private static Connection connect(Driver driver, String url, Properties properties) throws SQLException {
        Properties copy = new Properties(); // drivers write into it
        copy.putAll(properties);
        Connection connection = driver.connect(url, copy);
        if (connection == null) {
            throw new SQLException("the driver does not know its own URL any more", "08001");
        }
        return connection;
    }

    @Override
    public Connection pooled() throws SQLException {
        Connection connection = pool.getConnection();
        if (patience != null) {
            try {
                giveOnce(connection, patience);
            } catch (SQLException e) {
                connection.close();
                throw e;
            }
        }
        return connection;
    }

    /** The pool has one connection then, and whoever has it says how it waits. */
    private void giveOnce(Connection connection, Duration timeout) throws SQLException {
        Connection behind = connection.unwrap(Connection.class);
        if (patient != behind) {
            Patience.give(behind, timeout);
            patient = behind;
        }
    }

    @Override
    public Connection kept() throws SQLException {
        Connection connection = connect(driver, url, properties);
        try {
            if (patience != null) {
                Patience.give(connection, patience);
            }
            if (!defaults.isOneWriter()) {
                connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED); // as the pool does
            }
            if (defaults.initial() != null) {
                try (var s = connection.createStatement()) {
                    s.execute(defaults.initial());
                }
            }
            return connection;
        } catch (SQLException e) {
            connection.close();
            throw e;
        }
    }

    @Override
    public @Nullable ReentrantLock turn() {
        return defaults.isOneWriter() ? TURNS.computeIfAbsent(url, u -> new ReentrantLock(true)) : null;
    }

    @Override
    public void lazy(Connection connection, boolean lazy) throws SQLException {
        String statement = lazy ? defaults.lazy() : defaults.eager();
        if (statement != null) {
            try (var s = connection.createStatement()) {
                s.execute(statement);
            }
        }
    }

    @Override
    public void close() {
        try {
            pool.close();
        } catch (RuntimeException e) {
            throw new StoreUnavailableException("could not close the connection pool", e);
        }
    }
}
