// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testservers;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** One Redis. It keeps nothing on disk unless told to, so that a restart loses all data. */
public final class RedisServer extends LocalServer {
    private final List<String> settings;

    private RedisServer(Map<String, String> environment, List<String> settings) {
        super(ServerKind.REDIS, environment, 1);
        this.settings = List.copyOf(settings);
    }

    /**
     * Starts a Redis.
     *
     * @param settings more of the command line, such as {@code "--appendonly", "yes", "--appendfsync", "always"}, with which
     *     data survive a restart; the last of equal settings counts
     */
    public static RedisServer start(String... settings) {
        return start(Map.of(), List.of(settings));
    }

    /** As {@link #start(String...)}, with more in its environment, such as {@code LD_PRELOAD}. */
    public static RedisServer start(Map<String, String> environment, List<String> settings) {
        RedisServer server = new RedisServer(environment, settings);
        server.begin();
        return server;
    }

    @Override
    List<String> command(List<Integer> ports) {
        List<String> command = new ArrayList<>(List.of(
                Binaries.of(ServerKind.REDIS).executable("redis-server").toString(),
                "--port",
                ports.get(0).toString(),
                "--bind",
                host(),
                "--dir",
                folder().toString(),
                "--save",
                "",
                "--appendonly",
                "no"));
        command.addAll(settings);
        return command;
    }

    @Override
    String readyText() {
        return "Ready to accept connections";
    }
}
