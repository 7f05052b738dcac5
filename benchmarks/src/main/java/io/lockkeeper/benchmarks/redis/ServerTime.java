// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.benchmarks.redis;

import io.lockkeeper.DistributedLock;
import io.lockkeeper.Lease;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.testservers.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.params.SetParams;

/**
 * How long steps keep the Redis server busy, by its own {@code INFO commandstats}: neither the network nor the client is in
 * these figures. A step is one script; what it costs is the commands inside and the rest, which is Lua. For comparison,
 * {@code SET NX PX} and a script that compares and deletes, by which a lock without queue and tokens is made.
 *
 * <p>{@code ./bench redis --server-time} runs it.
 */
public final class ServerTime {
    private static final int CYCLES = 20_000;
    private static final int KEEPERS = 4;
    private static final int THREADS = 8;
    private static final Duration CONTENDED = Duration.ofSeconds(5);
    private static final String NAME = "server-time";

    private final RedisServer server;
    private final Jedis console;

    private ServerTime(RedisServer server, Jedis console) {
        this.server = server;
        this.console = console;
    }

    /** Prints a table. */
    public static void main(String[] args) throws Exception {
        try (RedisServer server = RedisServer.start();
                Jedis console = new Jedis(server.host(), server.port())) {
            System.out.printf("%-46s %10s %10s %10s %10s%n", "", "steps", "us/step", "commands", "us inside");
            new ServerTime(server, console).run();
        }
    }

    /** A command's calls, and the microseconds that they took in all. */
    private record Stat(long calls, long micros) {
        static final Stat NONE = new Stat(0, 0);

        static Stat of(String line) {
            return new Stat(number(line, "calls="), number(line, "usec="));
        }

        private static long number(String line, String key) {
            int from = line.indexOf(key) + key.length();
            return Long.parseLong(line.substring(from, line.indexOf(',', from)));
        }
    }

    private void run() throws Exception {
        floor();
        try (Lockkeeper keeper = Lockkeeper.connect(url())) {
            DistributedLock lock = keeper.lock(NAME);
            cycle(lock, CYCLES / 4); // warms up the client, and sends the scripts
            console.configResetStat();
            cycle(lock, CYCLES);
            row("claim, release: one thread, a free name", "evalsha");
        }
        contended();
    }

    private String url() {
        return "redis://" + server.host() + ":" + server.port();
    }

    /** What a lock costs that is nothing but a key with an expiry. */
    private void floor() {
        SetParams ifFree = SetParams.setParams().nx().px(Poll.LEASE);
        console.configResetStat();
        for (int i = 0; i < CYCLES; i++) {
            console.set(NAME + i, "value-" + i, ifFree);
        }
        row("SET NX PX", "set");
        String release = console.scriptLoad(Poll.RELEASE);
        console.configResetStat();
        for (int i = 0; i < CYCLES; i++) {
            Poll.expectOne(console.evalsha(release, List.of(NAME + i), List.of("value-" + i)));
        }
        row("compare and delete", "evalsha");
    }

    private static void cycle(DistributedLock lock, int times) throws InterruptedException {
        for (int i = 0; i < times; i++) {
            lock.acquire().close();
        }
    }

    /** Several clients want one name, first come first served, so that each release hands it over. */
    private void contended() throws Exception {
        List<Lockkeeper> keepers = new ArrayList<>();
        ExecutorService threads = Executors.newFixedThreadPool(THREADS);
        try {
            for (int i = 0; i < KEEPERS; i++) {
                keepers.add(Lockkeeper.connect(url()));
            }
            contend(threads, keepers, CONTENDED.dividedBy(2));
            console.configResetStat();
            long grants = contend(threads, keepers, CONTENDED);
            row(THREADS + " threads of " + KEEPERS + " clients, one name, fair", "evalsha");
            System.out.printf("%,d grants in %d s%n", grants, CONTENDED.toSeconds());
        } finally {
            threads.shutdownNow();
            keepers.forEach(Lockkeeper::close);
        }
    }

    private static long contend(ExecutorService threads, List<Lockkeeper> keepers, Duration time) throws Exception {
        long end = System.nanoTime() + time.toNanos();
        List<Future<Long>> all = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            DistributedLock lock =
                    keepers.get(i % KEEPERS).lock(NAME, LockOptions.defaults().fair(true));
            all.add(threads.submit(() -> {
                long grants = 0;
                while (System.nanoTime() - end < 0) {
                    try (Lease lease = lock.acquire()) {
                        grants += lease.isValid() ? 1 : 0;
                    }
                }
                return grants;
            }));
        }
        long sum = 0;
        for (Future<Long> one : all) {
            sum += one.get();
        }
        return sum;
    }

    /** What this command and, if it runs scripts, the commands inside have cost since the statistics were reset. */
    private void row(String what, String command) {
        Map<String, Stat> stats = console.info("commandstats")
                .lines()
                .filter(line -> line.startsWith("cmdstat_"))
                .collect(Collectors.toMap(line -> line.substring("cmdstat_".length(), line.indexOf(':')), Stat::of));
        Stat steps = stats.getOrDefault(command, Stat.NONE);
        long commands = 0;
        long inside = 0;
        if (command.equals("evalsha")) {
            for (Map.Entry<String, Stat> each : stats.entrySet()) {
                if (isInside(each.getKey())) {
                    commands += each.getValue().calls;
                    inside += each.getValue().micros;
                }
            }
        }
        System.out.printf(
                "%-46s %10d %10.2f %10.2f %10.2f%n",
                what,
                steps.calls,
                (double) steps.micros / steps.calls,
                (double) commands / steps.calls,
                (double) inside / steps.calls);
    }

    /** Whether it is scripts that call this command, and not the clients. */
    private static boolean isInside(String command) {
        return switch (command) {
            case "time", "hmget", "get", "set", "hset", "hdel", "hget", "hsetnx", "zadd", "zrem", "zrange", "zrank" ->
                true;
            case "zscore", "zcard", "zrangebyscore", "pexpireat", "publish", "incr", "exists", "del", "hscan", "hlen" ->
                true;
            default -> false;
        };
    }
}
