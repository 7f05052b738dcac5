// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.redis;

import io.lockkeeper.LockInfo;
import io.lockkeeper.StoreUnavailableException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.function.Supplier;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Protocol;

/** Looks around in a store: what servers these are, what time it is, which names are in use. */
final class Survey {
    private static final int NAMES_AT_ONCE = 100;
    private static final String KEYS_AT_ONCE = "1000";

    private final Servers servers;
    private final Keys keys;

    Survey(Servers servers, Keys keys) {
        this.servers = servers;
        this.keys = keys;
    }

    /** Refuses servers that throw keys away when their memory is full. */
    void refuseEviction(boolean allowed) {
        for (Supplier<Node> master : servers.masters()) {
            String memory = text(servers.ask(
                    master, node -> node.command(new CommandArguments(Protocol.Command.INFO).add("memory"))));
            String policy = memory.lines()
                    .filter(line -> line.startsWith("maxmemory_policy:"))
                    .map(line -> line.substring(line.indexOf(':') + 1).trim())
                    .findFirst()
                    .orElse("noeviction");
            if (!allowed && !policy.equals("noeviction")) {
                throw StoreUnavailableException.lasting(
                        "this Redis has maxmemory-policy " + policy + ": it would throw locks away when its memory is"
                                + " full. Set it to noeviction, or allow it with allowEviction=true",
                        null);
            }
        }
    }

    /**
     * Has each command tried that the scripts use. A script that were denied one in the middle would leave half a step; other
     * failures are left to whoever has something to do.
     */
    void refuseMissingPermissions() {
        int slot = Keys.slot(0);
        Call trial =
                new Call(slot, Script.TRIAL, keys.forTrial(UUID.randomUUID().toString()), List.of());
        try {
            servers.run(trial, Node.Way.PLAIN, Replicas.NONE);
        } catch (StoreUnavailableException e) {
            if (Failures.isDenied(String.valueOf(e.getMessage()))) {
                throw e;
            }
        }
    }

    /** The id of the store, which whoever comes first gives it. */
    String id() {
        int slot = redis.clients.jedis.util.JedisClusterCRC16.getSlot(keys.id());
        return servers.ask(() -> servers.node(slot), node -> {
            node.command(new CommandArguments(Protocol.Command.SET)
                    .add(keys.id())
                    .add(UUID.randomUUID().toString())
                    .add("NX"));
            return text(node.command(new CommandArguments(Protocol.Command.GET).add(keys.id())));
        });
    }

    /** The time of the server that a lane is on, in µs. */
    long time(Object lane) {
        int slot = lane instanceof Cluster.Shard shard ? shard.slot() : 0;
        List<?> time = Words.list(servers.ask(
                () -> servers.node(slot), node -> node.command(new CommandArguments(Protocol.Command.TIME))));
        return Long.parseLong(text(time.get(0))) * 1_000_000 + Long.parseLong(text(time.get(1)));
    }

    Optional<View> look(String name) {
        return View.of(name, servers.run(call(name), Node.Way.PLAIN, Replicas.NONE));
    }

    private Call call(String name) {
        return new Call(Keys.slot(Keys.bucket(name)), Script.INSPECT, keys.ofName(name), List.of());
    }

    List<LockInfo> list(String prefix, int limit) {
        List<String> names = new ArrayList<>(names(prefix));
        List<LockInfo> found = new ArrayList<>();
        for (int from = 0; from < names.size() && found.size() < limit; from += NAMES_AT_ONCE) {
            List<String> some = names.subList(from, Math.min(names.size(), from + NAMES_AT_ONCE));
            List<Object> answers =
                    servers.runAll(some.stream().map(this::call).toList(), Node.Way.PLAIN, Replicas.NONE);
            for (int i = 0; i < some.size() && found.size() < limit; i++) {
                View.of(some.get(i), answers.get(i)).flatMap(View::describe).ifPresent(found::add);
            }
        }
        return List.copyOf(found);
    }

    private Set<String> names(String prefix) {
        Set<String> names = new TreeSet<>();
        String pattern = keys.pattern(prefix);
        for (Supplier<Node> master : servers.masters()) {
            String cursor = "0";
            do {
                CommandArguments scan = new CommandArguments(Protocol.Command.SCAN)
                        .add(cursor)
                        .add("MATCH")
                        .add(pattern)
                        .add("COUNT")
                        .add(KEYS_AT_ONCE);
                List<?> page = Words.list(servers.ask(master, node -> node.command(scan)));
                cursor = text(page.get(0));
                for (Object key : Words.list(page.get(1))) {
                    names.add(keys.nameOf(text(key)));
                }
            } while (!cursor.equals("0"));
        }
        return names;
    }

    private static String text(Object answer) {
        return new String((byte[]) answer, StandardCharsets.UTF_8);
    }
}
