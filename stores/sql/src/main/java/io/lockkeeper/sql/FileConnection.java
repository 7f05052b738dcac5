// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import java.nio.file.Path;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Properties;
import org.sqlite.jdbc4.JDBC4Connection;

/** A connection to a SQLite file; its source says what closing it means. */
final class FileConnection extends JDBC4Connection {
    private final FileSource source;
    private final AtClose atClose;
    private volatile boolean usable = true;

    /** What is done instead of closing. */
    interface AtClose {
        void closed(FileConnection connection, boolean usable) throws SQLException;
    }

    FileConnection(FileSource source, AtClose atClose, Path path, Properties properties, Duration timeout)
            throws SQLException {
        super("jdbc:sqlite:" + path, path.toString(), properties);
        this.source = source;
        this.atClose = atClose;
        Patience.give(this, timeout);
    }

    @Override
    public PreparedStatement prepareStatement(String sql) throws SQLException {
        try {
            source.ensureInPlace();
        } catch (SQLException e) {
            usable = false;
            throw e;
        }
        return super.prepareStatement(sql);
    }

    @Override
    public void close() throws SQLException {
        atClose.closed(this, usable && getAutoCommit());
    }

    void end() throws SQLException {
        super.close();
    }
}
