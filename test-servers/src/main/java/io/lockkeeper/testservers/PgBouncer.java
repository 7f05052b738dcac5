// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testservers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** A PgBouncer before a PostgreSQL on this host: a pool that may give each transaction another connection. */
public final class PgBouncer extends LocalServer {
    /** It refuses to be run by root; nobody, who runs it then, must be able to read a cache in root's home. */
    private static final List<String> AS_NOBODY = List.of(
            "setpriv",
            "--reuid=65534",
            "--regid=65534",
            "--clear-groups",
            "--inh-caps=+dac_read_search",
            "--ambient-caps=+dac_read_search",
            "--");

    private final int server;
    private final String mode;

    private PgBouncer(int server, String mode) {
        super(ServerKind.PGBOUNCER, Map.of(), 1);
        this.server = server;
        this.mode = mode;
    }

    /**
     * Starts one.
     *
     * @param server the port of the PostgreSQL
     * @param mode {@code session}, {@code transaction} or {@code statement}
     */
    public static PgBouncer start(int server, String mode) {
        PgBouncer bouncer = new PgBouncer(server, mode);
        bouncer.begin();
        return bouncer;
    }

    /** The URL for JDBC, with the user; without server-side prepared statements, which are lost with a connection. */
    public String jdbcUrl() {
        return "jdbc:postgresql://" + address() + "/postgres?user=postgres&prepareThreshold=0";
    }

    @Override
    List<String> command(List<Integer> ports) {
        Path settings = folder().resolve("pgbouncer.ini");
        List<String> lines = List.of(
                "[databases]",
                "* = host=" + host() + " port=" + server + " user=postgres",
                "[pgbouncer]",
                "listen_addr = " + host(),
                "listen_port = " + ports.get(0),
                "unix_socket_dir =",
                "auth_type = any",
                "pool_mode = " + mode,
                "ignore_startup_parameters = extra_float_digits, options");
        try {
            Files.write(settings, lines);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        List<String> command = new ArrayList<>(Folders.runByRoot() ? AS_NOBODY : List.of());
        command.add(Binaries.of(ServerKind.PGBOUNCER).executable("pgbouncer").toString());
        command.add(settings.toString());
        return command;
    }

    @Override
    String readyText() {
        return "process up";
    }
}
