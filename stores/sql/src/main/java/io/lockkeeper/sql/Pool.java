// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import com.zaxxer.hikari.HikariPoolMXBean;
import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.sql.base.ConnectionSource;
import io.lockkeeper.sql.file.BusyRetry;
import java.sql.Connection;
import java.sql.Driver;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Our own small pool, when a store is made from a URL. Connections that are kept for long do not come from it. */
final class Pool implements ConnectionSource, AutoCloseable {
    /** Steps at a time; more would only wait for each other in the database. */
    private static final int SIZE = 8;

    /** The least that the pool allows. It looks every 30 s, so that a busy client does not connect again and again. */
    private static final long IDLE_MILLIS = 10_000;

    /** How long no two were in use at a time before one is enough. */
    private static final long CALM_NANOS = TimeUnit.SECONDS.toNanos(10);

    /** Servers whose connections are few, for all their clients together. */
    private static final Set<String> SERVERS = Set.of("postgresql", "mariadb", "mysql");

    private static final Pattern IN_MEMORY = Pattern.compile("^jdbc:sqlite:($|\\?|:memory:|file::memory:)");

    /** One for each database with one writer at a time that this process uses; there are few. */
    private static final Map<String, ReentrantLock> TURNS = new ConcurrentHashMap<>();

    private final HikariDataSource pool;
    private final DriverSource source;
    private final String url;
    private final UrlDefaults defaults;
    private final @Nullable Duration patience;
    private volatile @Nullable Connection patient;
    private volatile long crowded = System.nanoTime();

    private Pool(HikariDataSource pool, DriverSource source, String url, Properties properties, UrlDefaults defaults) {
        this.pool = pool;
        this.source = source;
        this.url = url;
        this.defaults = defaults;
        String busy = defaults.properties().get(UrlDefaults.BUSY);
        boolean isOurs = busy != null && busy.equals(properties.getProperty(UrlDefaults.BUSY));
        this.patience = isOurs ? Duration.ofMillis(Long.parseLong(busy)) : null;
    }

    static SqlStore open(JdbcUrl given, SqlOptions options, @Nullable Dialect dialect) {
        String url = given.text();
        if (IN_MEMORY.matcher(url).find()) {
            throw new IllegalArgumentException("each connection to a SQLite database in memory has its own database;"
                    + " use memory: for locks within this process, or a file");
        }
        Driver driver = driver(url);
        UrlDefaults defaults = UrlDefaults.of(url, options);
        Properties properties = properties(given, defaults);
        DriverSource source = new DriverSource(driver, given, properties);
        HikariConfig config = config(url, options, defaults);
        // Not the URL and the properties, which it would log.
        config.setDataSource(source);
        try {
            // The first connection by itself: its failure is reported unchanged, and immediately.
            source.connect().close();
            Pool pool = new Pool(new HikariDataSource(config), source, url, properties, defaults);
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

    /** What the driver is given: our defaults, unless the URL says otherwise. */
    private static Properties properties(JdbcUrl given, UrlDefaults defaults) {
        Properties properties = new Properties();
        defaults.properties().forEach((name, value) -> {
            if (!given.text().contains(name + "=")) {
                properties.setProperty(name, value);
            }
        });
        given.parameters().forEach((name, value) -> {
            String ours = properties.getProperty(name);
            // Of several settings in one parameter, the last of the same name counts.
            boolean adds = name.equals(UrlDefaults.SETTINGS) && ours != null;
            properties.setProperty(name, adds ? ours + " " + value : value);
        });
        return properties;
    }

    private static HikariConfig config(String url, SqlOptions options, UrlDefaults defaults) {
        HikariConfig config = new HikariConfig();
        config.setPoolName("lockkeeper");
        config.setMaximumPoolSize(defaults.isOneWriter() ? 1 : SIZE);
        config.setMinimumIdle(isServer(url) ? 0 : 1);
        config.setIdleTimeout(IDLE_MILLIS);
        config.setConnectionTimeout(Math.max(250, options.timeoutMillis()));
        config.setValidationTimeout(Math.max(250, options.timeoutMillis()));
        config.setInitializationFailTimeout(-1);
        if (defaults.initial() != null) {
            config.setConnectionInitSql(defaults.initial());
        }
        if (!defaults.isOneWriter()) {
            config.setTransactionIsolation("TRANSACTION_READ_COMMITTED");
        }
        return config;
    }

    private static Driver driver(String url) {
        try {
            return DriverManager.getDriver(url);
        } catch (SQLException e) {
            // Its message would show the URL.
            throw new IllegalArgumentException(Drivers.missing(url.split(":", 3)[1]));
        }
    }

    @Override
    public Connection pooled() throws SQLException {
        HikariPoolMXBean state = pool.getHikariPoolMXBean();
        if (state != null && state.getActiveConnections() > 0) {
            crowded = System.nanoTime();
        }
        Connection connection = borrow();
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

    private Connection borrow() throws SQLException {
        source.reconnect().beginWait();
        try {
            return pool.getConnection();
        } catch (SQLTransientConnectionException e) {
            throw cause(e);
        } finally {
            source.reconnect().endWait();
        }
    }

    /** Why the pool gave none in time: it could not make one, unless as many as there may be are in use. */
    private SQLException cause(SQLTransientConnectionException timeout) {
        SQLException failure = source.reconnect().failure();
        if (failure instanceof NotConnectedException known) {
            return known.again();
        }
        if (failure != null) {
            return new SQLTransientConnectionException(
                    timeout.getMessage() + ": " + failure.getMessage(),
                    failure.getSQLState(),
                    failure.getErrorCode(),
                    failure);
        }
        Server server = source.server();
        HikariPoolMXBean state = pool.getHikariPoolMXBean();
        boolean isFull = state == null || state.getTotalConnections() >= pool.getMaximumPoolSize();
        return server == null || isFull ? timeout : server.noAnswer(timeout, (int) pool.getConnectionTimeout());
    }

    /** The pool has one connection then, and its user sets how it waits. */
    private void giveOnce(Connection connection, Duration timeout) throws SQLException {
        Connection wrapped = connection.unwrap(Connection.class);
        if (patient != wrapped) {
            BusyRetry.give(wrapped, timeout);
            patient = wrapped;
        }
    }

    @Override
    public Connection kept() throws SQLException {
        Connection connection = source.connect();
        try {
            if (patience != null) {
                BusyRetry.give(connection, patience);
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
    public boolean isSparing() {
        return isServer(url);
    }

    private static boolean isServer(String url) {
        return SERVERS.contains(url.toLowerCase(Locale.ROOT).split(":", 3)[1]);
    }

    /** The pool itself would keep those that each have a thread that comes back to them, and never two at a time. */
    @Override
    public void rest(boolean all) {
        HikariPoolMXBean state = pool.getHikariPoolMXBean();
        if (state != null) {
            boolean isCalm = all || System.nanoTime() - crowded > CALM_NANOS;
            if (isCalm && state.getIdleConnections() > (all ? 0 : 1)) {
                state.softEvictConnections();
            }
        }
    }

    @Override
    public void discard(Connection connection) {
        pool.evictConnection(connection);
        try {
            connection.abort(Runnable::run); // one that is not of the pool
        } catch (SQLException e) {
            // It is broken already.
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
        source.reconnect().close();
        try {
            pool.close();
        } catch (RuntimeException e) {
            throw new StoreUnavailableException("could not close the connection pool", e);
        }
    }
}
