// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testservers;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/** Runs single statements. */
final class Sql {
    private Sql() {}

    static void update(String url, String sql) throws SQLException {
        try (Connection connection = DriverManager.getConnection(url);
                Statement statement = connection.createStatement()) {
            statement.executeUpdate(sql);
        }
    }

    static String query(String url, String sql) throws SQLException {
        try (Connection connection = DriverManager.getConnection(url)) {
            return query(connection, sql, 20);
        }
    }

    /** The first column of the first row; fails if there is no answer within this many seconds. */
    static String query(Connection connection, String sql, int seconds) throws SQLException {
        connection.setNetworkTimeout(Runnable::run, seconds * 1000);
        try (Statement statement = connection.createStatement();
                ResultSet result = statement.executeQuery(sql)) {
            result.next();
            return result.getString(1);
        }
    }
}
