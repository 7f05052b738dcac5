// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import com.mchange.v2.c3p0.ComboPooledDataSource;
import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;
import org.apache.commons.dbcp2.BasicDataSource;
import org.apache.tomcat.jdbc.pool.PoolProperties;

/** The pools that applications use. All but the first wait for a connection for very long, or forever. */
enum UserPool {
    HIKARI {
        @Override
        Opened open(String url, int size, boolean isUsual) {
            HikariConfig config = new HikariConfig();
            config.setJdbcUrl(url);
            config.setMaximumPoolSize(size);
            config.setMinimumIdle(0);
            config.setConnectionTimeout(WAIT_MILLIS);
            config.setAutoCommit(isUsual);
            config.setReadOnly(!isUsual);
            HikariDataSource pool = new HikariDataSource(config);
            return new Opened(pool, pool::close);
        }
    },
    DBCP2 {
        @Override
        Opened open(String url, int size, boolean isUsual) {
            BasicDataSource pool = new BasicDataSource();
            pool.setUrl(url);
            pool.setMaxTotal(size);
            pool.setMaxIdle(size);
            pool.setDefaultAutoCommit(isUsual);
            pool.setDefaultReadOnly(!isUsual);
            return new Opened(pool, pool::close);
        }
    },
    TOMCAT {
        @Override
        Opened open(String url, int size, boolean isUsual) {
            PoolProperties config = new PoolProperties();
            config.setUrl(url);
            config.setDriverClassName(
                    url.startsWith("jdbc:postgresql:") ? "org.postgresql.Driver" : "org.mariadb.jdbc.Driver");
            config.setMaxActive(size);
            config.setMaxIdle(size);
            config.setInitialSize(0);
            config.setMinIdle(0);
            config.setMaxWait(WAIT_MILLIS);
            config.setDefaultAutoCommit(isUsual);
            config.setDefaultReadOnly(!isUsual);
            org.apache.tomcat.jdbc.pool.DataSource pool = new org.apache.tomcat.jdbc.pool.DataSource(config);
            return new Opened(pool, pool::close);
        }
    },
    C3P0 {
        @Override
        Opened open(String url, int size, boolean isUsual) {
            ComboPooledDataSource pool = new ComboPooledDataSource(); // in autocommit, and writable, only
            pool.setJdbcUrl(url);
            pool.setMaxPoolSize(size);
            pool.setMinPoolSize(0);
            pool.setInitialPoolSize(0);
            pool.setAcquireIncrement(1);
            return new Opened(pool, pool::close);
        }
    };

    private static final int WAIT_MILLIS = 60_000;

    /** Opens one. An unusual one gives connections that are read-only, and not in autocommit. */
    abstract Opened open(String url, int size, boolean isUsual);

    /** How to close a pool. */
    interface Closing {
        void close() throws SQLException;
    }

    /** A pool, and how to close it. */
    record Opened(DataSource source, Closing pool) implements AutoCloseable {
        /** Takes that many connections; the caller closes them. */
        List<Connection> take(int number) throws SQLException {
            List<Connection> taken = new ArrayList<>();
            for (int i = 0; i < number; i++) {
                taken.add(source.getConnection());
            }
            return taken;
        }

        @Override
        public void close() {
            try {
                pool.close();
            } catch (SQLException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    static void giveBack(List<Connection> taken) throws SQLException {
        for (Connection connection : taken) {
            connection.close();
        }
    }
}
