// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import io.lockkeeper.spi.Secrets;
import java.io.PrintWriter;
import java.sql.Connection;
import java.sql.Driver;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.util.Properties;
import java.util.logging.Logger;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** Connections of a driver, for a pool that learns neither the URL nor a secret; what the driver says about them is hidden. */
final class DriverSource implements DataSource {
    private final Driver driver;
    private final String url;
    private final Properties properties;
    private final Secrets secrets;
    private final @Nullable Server server;
    private final Reconnect reconnect = new Reconnect();

    DriverSource(Driver driver, JdbcUrl given, Properties properties) {
        this.driver = driver;
        this.url = given.text();
        this.properties = properties;
        this.secrets = given.secrets();
        this.server = Server.of(given);
    }

    /** For the pool: does not end while the database cannot be reached. */
    @Override
    public Connection getConnection() throws SQLException {
        return reconnect.connect(this::connect);
    }

    Reconnect reconnect() {
        return reconnect;
    }

    /** The server, where there is one. */
    @Nullable
    Server server() {
        return server;
    }

    /** Connects, or fails. */
    Connection connect() throws SQLException {
        Properties copy = new Properties(); // drivers write into it
        copy.putAll(properties);
        try {
            Connection connection = driver.connect(url, copy);
            if (connection == null) {
                throw new SQLException("the driver does not know its own URL any more", "08001");
            }
            return connection;
        } catch (SQLException e) {
            SQLException hidden = hidden(e);
            throw server == null ? hidden : server.failed(hidden);
        } catch (RuntimeException e) {
            throw secrets.hide(e);
        }
    }

    private SQLException hidden(SQLException e) {
        SQLException next = e.getNextException();
        if (!secrets.areIn(e) && (next == null || hidden(next) == next)) {
            return e;
        }
        SQLException hidden =
                new SQLException(secrets.hide(String.valueOf(e.getMessage())), e.getSQLState(), e.getErrorCode());
        if (next != null) {
            hidden.setNextException(hidden(next));
        }
        return secrets.like(e, hidden);
    }

    @Override
    public Connection getConnection(String user, String password) throws SQLException {
        throw new SQLFeatureNotSupportedException("the login is that of the URL");
    }

    @Override
    public @Nullable PrintWriter getLogWriter() {
        return null;
    }

    @Override
    public void setLogWriter(@Nullable PrintWriter out) {
        // It logs nothing.
    }

    /** The driver's own parameters say how long it may take. */
    @Override
    public void setLoginTimeout(int seconds) {}

    /** In seconds: how long a pool that is closed waits for a connection that is being made, and logs a warning if it does not come. */
    @Override
    public int getLoginTimeout() {
        return 1;
    }

    @Override
    public Logger getParentLogger() throws SQLFeatureNotSupportedException {
        throw new SQLFeatureNotSupportedException("it logs nothing");
    }

    @Override
    public <T> T unwrap(Class<T> type) throws SQLException {
        throw new SQLException("it is not a " + type.getName());
    }

    @Override
    public boolean isWrapperFor(Class<?> type) {
        return false;
    }

    /** As a pool may log it. */
    @Override
    public String toString() {
        return driver.getClass().getName();
    }
}
