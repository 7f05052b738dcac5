// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;

/**
 * A connection that listens on one channel of PostgreSQL. The only class that needs the PostgreSQL driver, which may be missing or
 * hidden by a wrapper.
 */
final class PgChannel implements AutoCloseable {
    private final BorrowedConnection borrowed;
    private final Connection connection;
    private final PGConnection driver;
    private boolean listens;

    private PgChannel(BorrowedConnection borrowed, PGConnection driver) {
        this.borrowed = borrowed;
        this.connection = borrowed.connection();
        this.driver = driver;
    }

    /** The connections of this data source cannot be listened on, now or later. */
    static final class CannotListenException extends Exception {
        private static final long serialVersionUID = 1;

        CannotListenException(String message, Throwable cause) {
            super(message, cause);
        }
    }

    /** Takes over this connection, and closes it if that fails. */
    static PgChannel of(BorrowedConnection borrowed) throws SQLException, CannotListenException {
        try {
            return new PgChannel(borrowed, borrowed.connection().unwrap(PGConnection.class));
        } catch (SQLException e) {
            boolean isOpen = borrowed.connection().isValid(1);
            borrowed.close();
            if (isOpen) {
                throw new CannotListenException("its connections hide those of the PostgreSQL driver", e);
            }
            throw e;
        } catch (LinkageError e) {
            borrowed.close();
            throw new CannotListenException("the PostgreSQL driver is missing", e);
        }
    }

    Connection connection() {
        return connection;
    }

    void listen(String channel) throws SQLException {
        listens = true;
        try (Statement s = connection.createStatement()) {
            s.execute("LISTEN \"" + channel + "\"");
        }
    }

    /** What was sent to the channel, waiting for that many ms if there is nothing. */
    List<String> read(int millis) throws SQLException {
        PGNotification[] all = driver.getNotifications(millis);
        List<String> texts = new ArrayList<>();
        if (all != null) {
            for (PGNotification one : all) {
                texts.add(one.getParameter());
            }
        }
        return texts;
    }

    /** A connection that is dead without having noticed must not be listened to forever. */
    void probe(int seconds) throws SQLException {
        if (!connection.isValid(seconds)) {
            throw new SQLException("the connection to listen on is gone", "08006");
        }
    }

    /** Ends a read of another thread: it fails when the socket closes under it. */
    void abort() {
        try {
            connection.abort(Runnable::run);
        } catch (SQLException e) {
            // It is gone.
        }
    }

    /** The next user of the connection does not listen. */
    @Override
    public void close() throws SQLException {
        try {
            if (listens && !connection.isClosed()) {
                try (Statement s = connection.createStatement()) {
                    s.execute("UNLISTEN *");
                }
            }
        } catch (SQLException e) {
            abort();
        } finally {
            borrowed.close();
        }
    }
}
