// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testservers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * One MySQL, with the database {@code test} and the user {@code root}, who needs no password. It comes from Debian's {@code sid}, the
 * only suite that has it; what is called {@code mysqld} on a Debian machine is a MariaDB.
 */
public final class MySqlServer extends LocalServer {
    private static final String PROGRAM = "usr/sbin/mysqld";

    private final List<String> program;
    private final List<String> settings;

    private MySqlServer(DebianRelease release, List<String> settings) {
        super("mysql", 1);
        this.program = release.command(PROGRAM);
        this.settings = List.copyOf(settings);
    }

    /**
     * Starts a MySQL; the first call on a machine fetches it, some 55 MB.
     *
     * @param settings more of the command line; the last of equal ones counts. Without others, a commit is written at once and
     *     flushed to the disk once a second, which is enough to survive {@link #kill()}
     */
    public static MySqlServer start(String... settings) {
        MySqlServer server = new MySqlServer(DebianRelease.of("sid", "mysql-server-core"), List.of(settings));
        server.begin();
        return server;
    }

    /** The URL for MySQL's own JDBC driver, with the user. */
    public String jdbcUrl() {
        return jdbcUrl(port());
    }

    /** The URL for JDBC by way of another port, such as that of a {@link TcpProxy}. */
    public String jdbcUrl(int port) {
        return "jdbc:mysql://" + host() + ":" + port + "/test?user=root&sslMode=DISABLED";
    }

    @Override
    void prepare() {
        List<String> command = common();
        command.add("--initialize-insecure");
        runTool(command);
        try {
            // One statement per line. Names of hosts are not looked up, so that we are not localhost.
            Files.writeString(initFile(), """
                    CREATE DATABASE IF NOT EXISTS test;
                    CREATE USER IF NOT EXISTS root@'127.0.0.1';
                    GRANT ALL ON *.* TO root@'127.0.0.1' WITH GRANT OPTION;
                    """);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    List<String> command(List<Integer> ports) {
        List<String> command = common();
        command.addAll(List.of(
                "--port=" + ports.get(0),
                "--bind-address=" + host(),
                "--socket=" + folder().resolve("s"),
                "--pid-file=" + folder().resolve("pid"),
                "--init-file=" + initFile(),
                "--mysqlx=OFF",
                "--innodb-flush-log-at-trx-commit=2",
                "--skip-log-bin",
                "--skip-name-resolve"));
        command.addAll(settings);
        return command;
    }

    @Override
    String readyText() {
        return "ready for connections. Version";
    }

    private List<String> common() {
        List<String> command = new ArrayList<>(program);
        Path above = Path.of(program.get(program.size() - 1)).resolve("../..").normalize();
        command.addAll(List.of(
                "--no-defaults",
                "--basedir=" + above,
                "--datadir=" + folder().resolve("data"),
                "--tmpdir=" + folder(),
                "--secure-file-priv=NULL",
                "--innodb-redo-log-capacity=16M",
                "--innodb-buffer-pool-size=32M",
                "--innodb-use-native-aio=0"));
        if (Folders.runByRoot()) {
            command.add("--user=root");
        }
        return command;
    }

    private Path initFile() {
        return folder().resolve("init.sql");
    }
}
