// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.benchmarks.sql;

import io.lockkeeper.benchmarks.race.Contender;
import io.lockkeeper.benchmarks.race.Contender.Skill;
import io.lockkeeper.benchmarks.race.LockkeeperContender;
import io.lockkeeper.benchmarks.race.StoreSetup;
import io.lockkeeper.testservers.LocalServer;
import io.lockkeeper.testservers.MariaDbServer;
import io.lockkeeper.testservers.PostgresServer;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/** The databases, and how they are set up for a race. */
enum Database implements StoreSetup {
    POSTGRESQL("""
            SELECT sum(calls) FROM pg_stat_statements""", 1),
    MARIADB("""
            SHOW GLOBAL STATUS LIKE 'Questions'""", 2),
    SQLITE("", 0);

    private final String count;
    private final int countColumn;

    Database(String count, int countColumn) {
        this.count = count;
        this.countColumn = countColumn;
    }

    @Override
    public String id() {
        return name().toLowerCase(Locale.ROOT);
    }

    @Override
    public List<Contender.Entry> contenders() {
        List<Contender.Entry> all = new ArrayList<>();
        all.add(Contender.Entry.of("raw", EnumSet.allOf(Skill.class), url -> new RawContender(this, url)));
        all.addAll(LockkeeperContender.entries(this::ours));
        all.add(Contender.Entry.of(
                "spring", EnumSet.of(Skill.LOCK, Skill.KEEP), url -> new SpringContender(this, url)));
        all.add(Contender.Entry.of(
                "shedlock", EnumSet.of(Skill.LOCK, Skill.KEEP), url -> new ShedLockContender(this, url)));
        return all;
    }

    /** The way to SQLite that we recommend is a file URL. */
    private String ours(String url) {
        return this == SQLITE
                ? "file:" + url.substring("jdbc:sqlite:".length()) + "-lockkeeper?operationTimeout=5s"
                : url;
    }

    @Override
    public Running start(Path folder) throws SQLException {
        Server server =
                switch (this) {
                    case POSTGRESQL -> {
                        // A plan must not depend on whether statistics of the table were made while it was empty.
                        PostgresServer postgres = PostgresServer.start(
                                "fsync=on",
                                "max_connections=300",
                                "enable_seqscan=off",
                                "shared_preload_libraries=pg_stat_statements");
                        yield new Server(this, postgres, postgres.jdbcUrl());
                    }
                    case MARIADB -> {
                        MariaDbServer maria =
                                MariaDbServer.start("--innodb-flush-log-at-trx-commit=1", "--max-connections=300");
                        yield new Server(this, maria, maria.jdbcUrl());
                    }
                    case SQLITE -> new Server(this, null, "jdbc:sqlite:" + folder.resolve("bench.db"));
                };
        try {
            server.prepare();
            return server;
        } catch (SQLException e) {
            server.close();
            throw e;
        }
    }

    /** A running database, and a connection to it that counts. */
    private static final class Server implements Running {
        private final Database database;
        private final @Nullable LocalServer process;
        private final String url;
        private final Connection connection;
        private long own;

        Server(Database database, @Nullable LocalServer process, String url) throws SQLException {
            this.database = database;
            this.process = process;
            this.url = url;
            this.connection = DriverManager.getConnection(url);
        }

        void prepare() throws SQLException {
            if (database == POSTGRESQL) {
                execute("CREATE EXTENSION pg_stat_statements");
            } else if (database == SQLITE) {
                execute("PRAGMA journal_mode = WAL");
            }
            for (String ddl : Schema.of(database)) {
                execute(ddl);
            }
        }

        private void execute(String sql) throws SQLException {
            try (Statement statement = connection.createStatement()) {
                statement.execute(sql);
            }
        }

        @Override
        public String url() {
            return url;
        }

        @Override
        public OptionalLong requests() {
            if (database.count.isEmpty()) {
                return OptionalLong.empty();
            }
            try (Statement statement = connection.createStatement();
                    ResultSet row = statement.executeQuery(database.count)) {
                row.next();
                // PostgreSQL counts a statement after it, MariaDB before: between two counts there is one either way.
                return OptionalLong.of(row.getLong(database.countColumn) - own++);
            } catch (SQLException e) {
                throw new IllegalStateException("the server's count cannot be read", e);
            }
        }

        @Override
        public void close() throws SQLException {
            try {
                connection.close();
            } finally {
                if (process != null) {
                    process.close();
                }
            }
        }
    }
}
