// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import io.lockkeeper.sql.base.ConnectionSource;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Objects;
import javax.sql.DataSource;

/** The user's own data source, which the application uses, too. */
final class UserSource implements ConnectionSource {
    /** Gives callers the connection of their transaction, on whatever thread they use it. */
    private static final String TRANSACTION_AWARE =
            "org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy";

    private final DataSource source;

    UserSource(DataSource source) {
        this.source = Objects.requireNonNull(source, "source");
        if (isTransactionAware(source)) {
            throw new IllegalArgumentException(
                    "the data source is transaction-aware: a step on a connection of the caller's transaction would"
                            + " commit it, or be rolled back with it; pass the data source that it wraps"
                            + " (getTargetDataSource())");
        }
    }

    private static boolean isTransactionAware(DataSource source) {
        try {
            Class<?> type =
                    Class.forName(TRANSACTION_AWARE, false, source.getClass().getClassLoader());
            return type.isInstance(source) || source.isWrapperFor(type);
        } catch (ClassNotFoundException | LinkageError | SQLException | RuntimeException e) {
            return false; // there is none, or it is hidden
        }
    }

    @Override
    public Connection pooled() throws SQLException {
        return source.getConnection();
    }

    @Override
    public Connection kept() throws SQLException {
        return source.getConnection();
    }

    @Override
    public boolean isShared() {
        return true;
    }
}
