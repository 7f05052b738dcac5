// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testservers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** One MariaDB, with the database {@code test} and the user {@code root}, who needs no password. */
public final class MariaDbServer extends LocalServer {
    /** Small files and little memory; the same for installing and running, or the log would be written again at the first run. */
    private static final List<String> SMALL =
            List.of("--innodb-log-file-size=8M", "--innodb-buffer-pool-size=32M", "--innodb-use-native-aio=0");

    private final List<String> settings;
    private final @Nullable ReleasePrograms release;

    private MariaDbServer(Map<String, String> environment, List<String> settings) {
        super(ServerKind.MARIADB, environment, 1);
        this.settings = List.copyOf(settings);
        this.release = null;
    }

    private MariaDbServer(ReleasePrograms release) {
        super("mariadb", 1);
        this.settings = List.of();
        this.release = release;
    }

    /** Starts the MariaDB of another Debian suite, such as version 11.8 of {@code trixie}; the first call fetches it. */
    public static MariaDbServer startRelease(String suite) {
        MariaDbServer server = new MariaDbServer(ReleasePrograms.of(
                DebianRelease.of(suite, "mariadb-server"),
                List.of("usr/sbin/mariadbd", "usr/bin/my_print_defaults", "usr/bin/mariadb-install-db")));
        server.begin();
        return server;
    }

    /**
     * Starts a MariaDB.
     *
     * @param settings more of the command line, such as {@code "--default-time-zone=+05:30"}; the last of equal ones counts.
     *     Without others, a commit is written at once and flushed to the disk once a second
     *     ({@code --innodb-flush-log-at-trx-commit=2}), which is enough to survive {@link #kill()}
     */
    public static MariaDbServer start(String... settings) {
        return start(Map.of(), List.of(settings));
    }

    /** As {@link #start(String...)}, with more in its environment, such as {@code LD_PRELOAD}. */
    public static MariaDbServer start(Map<String, String> environment, List<String> settings) {
        MariaDbServer server = new MariaDbServer(environment, settings);
        server.begin();
        return server;
    }

    /** The URL for MariaDB's own JDBC driver, with the user. */
    public String jdbcUrl() {
        return jdbcUrl(port());
    }

    /** The URL for JDBC by way of another port, such as that of a {@link TcpProxy}. */
    public String jdbcUrl(int port) {
        return "jdbc:mariadb://" + host() + ":" + port + "/test?user=root&sslMode=disable";
    }

    @Override
    void prepare() {
        List<String> command = new ArrayList<>();
        command.add(executable("mariadb-install-db"));
        command.addAll(common());
        // "force" and "skip-name-resolve": it need not know the name of this machine
        command.addAll(List.of(
                "--auth-root-authentication-method=normal", "--skip-test-db", "--force", "--skip-name-resolve"));
        runTool(command);
        try {
            Files.writeString(initFile(), "CREATE DATABASE IF NOT EXISTS test;\n");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    List<String> command(List<Integer> ports) {
        List<String> command = new ArrayList<>();
        command.add(executable("mariadbd"));
        command.addAll(common());
        command.addAll(List.of(
                "--port=" + ports.get(0),
                "--bind-address=" + host(),
                "--socket=" + folder().resolve("s"),
                "--pid-file=" + folder().resolve("pid"),
                "--init-file=" + initFile(),
                "--innodb-flush-log-at-trx-commit=2",
                "--skip-log-bin",
                "--skip-name-resolve"));
        command.addAll(settings);
        return command;
    }

    @Override
    String readyText() {
        return "ready for connections";
    }

    private List<String> common() {
        List<String> options = new ArrayList<>(
                // unpacked packages are not where the server was built to look
                List.of("--no-defaults", "--basedir=" + base(), "--datadir=" + folder().resolve("data")));
        // a server that starts removes what others have left, or still use, where it keeps its temporary tables
        options.add("--tmpdir=" + folder());
        options.addAll(SMALL);
        if (Folders.runByRoot()) {
            options.add("--user=root");
        }
        return options;
    }

    private Path initFile() {
        return folder().resolve("init.sql");
    }

    /** The folder above {@code sbin} or {@code bin}. */
    private Path base() {
        return release != null
                ? release.base()
                : Path.of(executable("mariadbd")).resolve("../..").normalize();
    }

    private String executable(String name) {
        if (release != null) {
            return release.base()
                    .resolve(name.equals("mariadbd") ? "sbin" : "bin")
                    .resolve(name)
                    .toString();
        }
        return Binaries.of(ServerKind.MARIADB).executable(name).toString();
    }
}
