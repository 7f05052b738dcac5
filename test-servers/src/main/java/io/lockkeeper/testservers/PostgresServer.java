// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testservers;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One PostgreSQL, with the database and the superuser {@code postgres}, who needs no password. It does not wait for the disk
 * unless told to: its data survive {@link #kill()} all the same, for the system's cache does.
 */
public final class PostgresServer extends LocalServer {
    /** PostgreSQL refuses to be run by root: then it is run by this user, nobody. */
    private static final int NOBODY = 65534;
    /** setpriv becomes the server: signals to it are signals to the server. */
    private static final List<String> AS_NOBODY =
            List.of("setpriv", "--reuid=" + NOBODY, "--regid=" + NOBODY, "--clear-groups", "--");

    private final List<String> settings;
    private final @Nullable ReleasePrograms release;

    private PostgresServer(Map<String, String> environment, List<String> settings) {
        super(ServerKind.POSTGRES, environment, 1);
        this.settings = List.copyOf(settings);
        this.release = null;
    }

    private PostgresServer(ReleasePrograms release) {
        super("postgres", 1);
        this.settings = List.of();
        this.release = release;
    }

    /** Starts the PostgreSQL of another Debian suite, such as version 17 of {@code trixie}; the first call fetches it. */
    public static PostgresServer startRelease(String suite, int version) {
        String folder = "usr/lib/postgresql/" + version + "/bin/";
        DebianRelease release = DebianRelease.of(suite, "postgresql-" + version);
        PostgresServer server = new PostgresServer(ReleasePrograms.of(
                Folders.runByRoot() ? release.copy() : release, List.of(folder + "postgres", folder + "initdb")));
        server.begin();
        return server;
    }

    /**
     * Starts a PostgreSQL.
     *
     * @param settings as in {@code postgresql.conf}, such as {@code "fsync=on", "timezone=Asia/Kolkata"}; the last of equal ones
     *     counts, and without these it is {@code fsync=off} and {@code timezone=UTC}
     */
    public static PostgresServer start(String... settings) {
        return start(Map.of(), List.of(settings));
    }

    /** As {@link #start(String...)}, with more in its environment, such as {@code LD_PRELOAD}. */
    public static PostgresServer start(Map<String, String> environment, List<String> settings) {
        PostgresServer server = new PostgresServer(environment, settings);
        server.begin();
        return server;
    }

    /** The URL for JDBC, with the user. */
    public String jdbcUrl() {
        return jdbcUrl(port());
    }

    /** The URL for JDBC by way of another port, such as that of a {@link TcpProxy}. */
    public String jdbcUrl(int port) {
        return "jdbc:postgresql://" + host() + ":" + port + "/postgres?user=postgres";
    }

    @Override
    void prepare() {
        if (Folders.runByRoot()) {
            Folders.give(folder(), NOBODY);
            if (release == null) {
                checkAccess();
            }
        }
        runTool(asUser(
                "initdb", "-D", data(), "-U", "postgres", "-A", "trust", "--no-sync", "-E", "UTF8", "--locale=C"));
    }

    @Override
    List<String> command(List<Integer> ports) {
        List<String> command =
                asUser("postgres", "-D", data(), "-p", ports.get(0).toString());
        List<String> all = new ArrayList<>(
                List.of("listen_addresses=" + host(), "unix_socket_directories=", "fsync=off", "timezone=UTC"));
        all.addAll(settings);
        for (String setting : all) {
            command.addAll(List.of("-c", setting));
        }
        return command;
    }

    @Override
    String readyText() {
        return "database system is ready to accept connections";
    }

    /** TERM would wait until the last client has gone. */
    @Override
    String stopSignal() {
        return "INT";
    }

    /** A cache in root's home is closed to others; what initdb then says would lead nobody to the reason. */
    private void checkAccess() {
        Path server = Binaries.of(ServerKind.POSTGRES).executable("postgres");
        List<String> command = new ArrayList<>(AS_NOBODY);
        command.addAll(List.of("test", "-x", server.toString()));
        try {
            runTool(command);
        } catch (IllegalStateException e) {
            throw new MissingServerException(
                    "root cannot run PostgreSQL, and user " + NOBODY + ", who could, has no access to " + server
                            + "; set LOCKKEEPER_SERVER_CACHE or " + ServerKind.POSTGRES.variable()
                            + " to a folder that all can read",
                    e);
        }
    }

    private String data() {
        return folder().resolve("data").toString();
    }

    private List<String> asUser(String name, String... arguments) {
        List<String> command = new ArrayList<>();
        if (Folders.runByRoot()) {
            command.addAll(AS_NOBODY);
        }
        command.add(
                release != null
                        ? release.path(name)
                        : Binaries.of(ServerKind.POSTGRES).executable(name).toString());
        command.addAll(List.of(arguments));
        return command;
    }
}
