// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.spi.NameCodec;
import io.lockkeeper.testservers.LocalServer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import redis.clients.jedis.Connection;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;

/** A server's operator. */
final class Admin {
    /** Nothing that is expected takes this long. */
    static final Duration LONG = Duration.ofSeconds(40);

    /** What the operator asks for, and what scripts call: not sent by a store. */
    private static final Set<String> NOT_SENT = Set.of(
            "hello",
            "client|setname",
            "config|resetstat",
            "info",
            "time",
            "get",
            "set",
            "del",
            "incr",
            "exists",
            "publish",
            "pexpireat",
            "zadd",
            "zrem",
            "zscore",
            "zrank",
            "zcard",
            "zcount",
            "zrange",
            "zrangebyscore",
            "zrevrange",
            "zremrangebyscore",
            "hset",
            "hget",
            "hdel",
            "hmget",
            "hincrby",
            "hlen",
            "hscan");

    private final HostAndPort address;

    Admin(LocalServer server) {
        this.address = new HostAndPort(server.host(), server.port());
    }

    /** Executes a command on a new connection. */
    Object ask(String command, String... words) {
        DefaultJedisClientConfig config = DefaultJedisClientConfig.builder()
                .resp2()
                .timeoutMillis((int) LONG.toMillis())
                .build();
        try (Connection connection = new Connection(address, config)) {
            connection.sendCommand(() -> command.getBytes(StandardCharsets.US_ASCII), words);
            return connection.getOne();
        }
    }

    String text(String command, String... words) {
        return text(ask(command, words));
    }

    static String text(Object answer) {
        return answer instanceof byte[] bytes ? new String(bytes, StandardCharsets.UTF_8) : String.valueOf(answer);
    }

    /** Whether this server, which may be a replica, has the queue of a name. */
    boolean hasQueue(String name) {
        return ((List<?>) ask("KEYS", "*"))
                .stream().anyMatch(key -> text(key).endsWith("}:places:" + NameCodec.encode(name)));
    }

    /** All keys but the token floors and the store's id; the records of names as if each were a key {@code …}:n:NAME}. */
    List<String> keys() {
        List<String> keys = new ArrayList<>();
        for (Object each : (List<?>) ask("KEYS", "*")) {
            String key = text(each);
            if (key.endsWith("}:names") && text("TYPE", key).equals("hash")) {
                String bucket = key.substring(0, key.length() - "names".length());
                for (Object field : (List<?>) ask("HKEYS", key)) {
                    if (!text(field).startsWith("!")) {
                        keys.add(bucket + "n:" + text(field));
                    }
                }
            } else if (!key.endsWith("}:floor") && !key.endsWith(":id")) {
                keys.add(key);
            }
        }
        return keys;
    }

    /** The hash that the record of a name is in. */
    static String names(String name) {
        return text(new Keys("lockkeeper").names(Keys.bucket(name)));
    }

    /** The record of a name. */
    String record(String name) {
        return text("HGET", names(name), NameCodec.encode(name));
    }

    /** How much the server has written to its append-only file. */
    long written() {
        return text("INFO", "persistence")
                .lines()
                .filter(line -> line.startsWith("aof_current_size:"))
                .mapToLong(line -> Long.parseLong(line.substring(line.indexOf(':') + 1)))
                .sum();
    }

    /** How long scripts have taken in the server since the statistics were reset, in µs for each. */
    double microsOfScripts() {
        return text("INFO", "commandstats")
                .lines()
                .filter(line -> line.startsWith("cmdstat_evalsha:"))
                .mapToDouble(line -> Double.parseDouble(line.replaceAll("^.*usec_per_call=([0-9.]+).*", "$1")))
                .sum();
    }

    void resetStatistics() {
        ask("CONFIG", "RESETSTAT");
    }

    /** How often each command was called, by clients and by scripts. */
    Map<String, Long> commands() {
        return text("INFO", "commandstats")
                .lines()
                .filter(line -> line.startsWith("cmdstat_"))
                .collect(Collectors.toMap(
                        line -> line.substring("cmdstat_".length(), line.indexOf(':')),
                        line -> Long.parseLong(line.replaceAll("^[^:]*:calls=(\\d+),.*", "$1")),
                        Long::sum,
                        TreeMap::new));
    }

    /** How often it has answered with an error of this kind. */
    long errors(String kind) {
        return text("INFO", "errorstats")
                .lines()
                .filter(line -> line.startsWith("errorstat_" + kind + ":"))
                .mapToLong(line -> Long.parseLong(line.replaceAll("^.*count=(\\d+).*", "$1")))
                .sum();
    }

    /** How often each command was sent by a store. */
    Map<String, Long> sent() {
        Map<String, Long> sent = commands();
        sent.keySet().removeAll(NOT_SENT);
        return sent;
    }

    /** Waits until something is so. */
    static void await(String what, Callable<Boolean> condition) throws Exception {
        long deadline = System.nanoTime() + LONG.toNanos();
        while (!condition.call()) {
            assertThat(System.nanoTime()).as("in time: " + what).isLessThan(deadline);
            TimeUnit.MILLISECONDS.sleep(2);
        }
    }
}
