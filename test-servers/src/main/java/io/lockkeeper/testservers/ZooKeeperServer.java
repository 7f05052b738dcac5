// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testservers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * One ZooKeeper server in its own JVM, from the jars on this JVM's class path: whoever starts one has {@code zookeeper},
 * {@code metrics-core} and {@code snappy-java} there.
 */
public final class ZooKeeperServer extends LocalServer {
    private static final String MAIN = "org.apache.zookeeper.server.quorum.QuorumPeerMain";

    /** A connection with a session, in the answer to {@code cons}. */
    private static final Pattern SESSION = Pattern.compile("recved=(\\d+),sent=\\d+,sid=0x(?!0,)");

    private final List<String> settings;
    private final List<String> jvmOptions;

    ZooKeeperServer(List<String> jvmOptions, List<String> settings) {
        super(ServerKind.ZOOKEEPER, Map.of(), 1);
        this.jvmOptions = List.copyOf(jvmOptions);
        this.settings = List.copyOf(settings);
    }

    /**
     * Starts a server.
     *
     * @param settings more lines of its configuration; the last of equal settings counts
     */
    public static ZooKeeperServer start(String... settings) {
        return start(List.of(), List.of(settings));
    }

    /** As {@link #start(String...)}, with more options for its JVM. */
    public static ZooKeeperServer start(List<String> jvmOptions, List<String> settings) {
        ZooKeeperServer server = new ZooKeeperServer(jvmOptions, settings);
        server.begin();
        return server;
    }

    /**
     * Starts a member of an ensemble; returns when the ensemble has a leader.
     *
     * @param number of this member, from 1
     */
    static ZooKeeperServer member(int number, List<String> jvmOptions, List<String> ensemble) {
        ZooKeeperServer server = new ZooKeeperServer(jvmOptions, ensemble);
        try {
            Files.createDirectories(server.folder().resolve("data"));
            Files.writeString(server.folder().resolve("data").resolve("myid"), Integer.toString(number));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        server.begin();
        return server;
    }

    /** What the server answers to one of its four-letter commands; empty when it does not answer. */
    public String ask(String command) {
        return ReadyMain.ask(port(), command);
    }

    /** Whether it leads its ensemble, or is the only one. */
    public boolean leads() {
        String answer = ask("srvr");
        return answer.contains("Mode: leader") || answer.contains("Mode: standalone");
    }

    /** How many requests have come by all connections that are open now: pings count, too. */
    public long received() {
        long received = 0;
        Matcher matcher = SESSION.matcher(ask("cons"));
        while (matcher.find()) {
            received += Long.parseLong(matcher.group(1));
        }
        return received;
    }

    /** How much the server has sent to the client of this session: answers and events. */
    public long sent(long session) {
        Matcher matcher = Pattern.compile("sent=(\\d+),sid=0x" + Long.toHexString(session) + ",")
                .matcher(ask("cons"));
        if (!matcher.find()) {
            throw new IllegalStateException("no such session is connected");
        }
        return Long.parseLong(matcher.group(1));
    }

    @Override
    List<String> command(List<Integer> ports) {
        int port = ports.get(0);
        Path folder = folder();
        Path file = folder.resolve("zoo.cfg");
        List<String> lines = new ArrayList<>(List.of(
                "tickTime=200",
                "minSessionTimeout=400",
                "maxSessionTimeout=86400000",
                "initLimit=50",
                "syncLimit=25",
                "maxClientCnxns=0",
                "admin.enableServer=false",
                "4lw.commands.whitelist=*",
                "dataDir=" + folder.resolve("data"),
                "clientPortAddress=127.0.0.1",
                "clientPort=" + port));
        lines.addAll(settings);
        try {
            Files.createDirectories(folder.resolve("data"));
            Files.write(file, lines);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        List<String> command = new ArrayList<>(List.of(
                Binaries.of(ServerKind.ZOOKEEPER).executable("java").toString(),
                "-Xmx192m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-Dzookeeper.extendedTypesEnabled=true",
                "-Dznode.container.checkIntervalMs=2000",
                "-Dzookeeper.forceSync=no"));
        command.addAll(jvmOptions);
        command.addAll(List.of(
                "-cp",
                System.getProperty("java.class.path"),
                ReadyMain.class.getName(),
                MAIN,
                file.toString(),
                Integer.toString(port)));
        return command;
    }

    @Override
    String readyText() {
        return ReadyMain.READY;
    }
}
