// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import java.io.PrintWriter;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.logging.Logger;
import javax.sql.DataSource;

/** A data source of plain connections that notes every statement that is executed, and whether it was in autocommit. */
final class CountingSource implements DataSource {
    private final String url;
    private final Queue<String> executed = new ConcurrentLinkedQueue<>();
    private final AtomicLong mostRows = new AtomicLong();
    private final AtomicLong rowsRead = new AtomicLong();
    private final AtomicLong plainStatements = new AtomicLong();

    CountingSource(String url) {
        this.url = url;
    }

    /** The largest number of rows that one statement changed. */
    long mostRows() {
        return mostRows.get();
    }

    /** How many statements that are not prepared have been made. */
    long plainStatements() {
        return plainStatements.get();
    }

    /** How many rows queries have given since the last call. */
    long rowsRead() {
        return rowsRead.getAndSet(0);
    }

    /** What has been executed since the last call: {@code auto} or {@code transaction}, and the text. */
    List<String> taken() {
        List<String> all = List.copyOf(executed);
        executed.clear();
        return all;
    }

    @Override
    public Connection getConnection() throws SQLException {
        Connection connection = DriverManager.getConnection(url);
        return proxy(Connection.class, connection, (method, arguments, result) -> {
            if (method.equals("createStatement")) {
                plainStatements.incrementAndGet();
            }
            if (method.equals("prepareStatement") && result instanceof PreparedStatement statement) {
                return proxy(PreparedStatement.class, statement, (name, a, r) -> {
                    if (r instanceof Integer rows) {
                        mostRows.accumulateAndGet(rows, Math::max);
                    }
                    if (name.startsWith("execute")) {
                        executed.add((connection.getAutoCommit() ? "auto: " : "transaction: ") + arguments[0]);
                    }
                    return r instanceof ResultSet rows ? counted(rows) : r;
                });
            }
            return result;
        });
    }

    private ResultSet counted(ResultSet rows) {
        return proxy(ResultSet.class, rows, (name, a, r) -> {
            if (name.equals("next") && Boolean.TRUE.equals(r)) {
                rowsRead.incrementAndGet();
            }
            return r;
        });
    }

    private interface After {
        Object call(String method, Object[] arguments, Object result) throws SQLException;
    }

    private static <T> T proxy(Class<T> type, T target, After after) {
        return type.cast(
                Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (p, method, arguments) -> {
                    try {
                        return after.call(method.getName(), arguments, method.invoke(target, arguments));
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                }));
    }

    @Override
    public Connection getConnection(String user, String password) throws SQLException {
        return getConnection();
    }

    @Override
    public PrintWriter getLogWriter() {
        return null;
    }

    @Override
    public void setLogWriter(PrintWriter out) {}

    @Override
    public void setLoginTimeout(int seconds) {}

    @Override
    public int getLoginTimeout() {
        return 0;
    }

    @Override
    public Logger getParentLogger() {
        return Logger.getGlobal();
    }

    @Override
    public <T> T unwrap(Class<T> type) throws SQLException {
        throw new SQLException("nothing to unwrap");
    }

    @Override
    public boolean isWrapperFor(Class<?> type) {
        return false;
    }
}
