// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.redis.server;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Connection;
import redis.clients.jedis.ConnectionPool;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Protocol;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisException;
import redis.clients.jedis.util.Pool;

/**
 * A Redis Cluster: a map of which master has which slot, loaded again in the background when a server fails or says
 * that it is the wrong one. A step whose own server answers never waits for another one.
 */
final class Cluster extends Servers {
    /** Loading the map more often than this would not help: a failover takes longer. */
    private static final long BETWEEN_MAPS = 100_000_000;

    /** A map older than this is not relied on by waiters for a signal. */
    private static final long OLD = 5_000_000_000L;

    private static final int SLOTS = 16_384;

    private final List<HostAndPort> seeds;
    private final Function<HostAndPort, Node> maker;
    private final Map<HostAndPort, Node> nodes = new ConcurrentHashMap<>();
    private final Lookup<SlotMap> lookup = new Lookup<>("the map of the Redis Cluster", this::draw);
    private final long limitMillis;
    private final AtomicInteger listeners = new AtomicInteger(
            ThreadLocalRandom.current().nextInt(SLOTS)); // so that not all clients listen to the same server
    private volatile SlotMap slotMap = new SlotMap(Map.of(), List.of());
    private volatile long drawn;
    private volatile @Nullable Node failedLast;

    /** Which master has which slot, and all masters. */
    private record SlotMap(Map<Integer, HostAndPort> owners, List<HostAndPort> masters) {}

    /** The lane of the names on one master; {@code slot} is any one of its slots. */
    private static final class Shard {
        private final String address;
        private final int slot;

        Shard(String address, int slot) {
            this.address = address;
            this.slot = slot;
        }

        @Override
        public boolean equals(@Nullable Object other) {
            return other instanceof Shard shard && shard.address.equals(address);
        }

        @Override
        public int hashCode() {
            return address.hashCode();
        }

        @Override
        public String toString() {
            return address;
        }
    }

    /** @param limitMillis how long a step waits for the map, if nobody knows who serves its slot */
    Cluster(Collection<HostAndPort> seeds, Function<HostAndPort, Node> maker, long limitMillis) {
        this.seeds = List.copyOf(seeds);
        this.maker = maker;
        this.limitMillis = limitMillis;
        try {
            draw();
        } catch (JedisException e) {
            close();
            throw nobodyKnows("no server of the Redis Cluster says which one serves which slot", e);
        }
    }

    /** The Cluster of a client that the application made, whose connections are used. */
    static Cluster of(Supplier<Map<String, ConnectionPool>> pools, Runnable lookAgain, long limitMillis) {
        List<HostAndPort> known =
                pools.get().keySet().stream().map(HostAndPort::from).toList();
        // On another thread, because the client waits for its own connection for as long as it likes.
        Lookup<Boolean> meeting = new Lookup<>("a new server of the client's Redis Cluster", () -> {
            lookAgain.run();
            return true;
        });
        return new Cluster(
                known,
                address -> new PooledNode(
                        address.toString(), () -> pool(pools, address.toString(), meeting, limitMillis), limitMillis),
                limitMillis);
    }

    private static Pool<Connection> pool(
            Supplier<Map<String, ConnectionPool>> pools, String address, Lookup<Boolean> meeting, long limitMillis) {
        ConnectionPool pool = pools.get().get(address);
        if (pool == null) {
            meeting.await(limitMillis); // the client may not have met that server yet
            pool = pools.get().get(address);
        }
        if (pool == null) {
            throw new JedisConnectionException("the client does not know the server at " + address);
        }
        return pool;
    }

    @Override
    public Node node(int slot) {
        HostAndPort owner = slotMap.owners.get(slot);
        if (owner == null && isOutdated()) {
            lookup.await(limitMillis);
            owner = slotMap.owners.get(slot);
        }
        if (owner == null) {
            throw new JedisDataException("CLUSTERDOWN nobody serves slot " + slot);
        }
        return at(owner);
    }

    @Override
    Node at(HostAndPort address) {
        return nodes.computeIfAbsent(address, maker);
    }

    @Override
    public Collection<Supplier<Node>> masters() {
        return slotMap.masters.stream()
                .map(address -> (Supplier<Node>) () -> at(address))
                .toList();
    }

    @Override
    public Node listening() {
        List<HostAndPort> masters = slotMap.masters;
        if (masters.isEmpty()) {
            throw new JedisConnectionException("no master of the Redis Cluster is known");
        }
        return at(masters.get(Math.floorMod(listeners.getAndIncrement(), masters.size())));
    }

    @Override
    public boolean isHeardAt(Node node) {
        if (System.nanoTime() - drawn > OLD) {
            lookup.start(); // a server that leaves notifies nobody, and perhaps none of the slots that we use was there
        }
        return slotMap.masters.stream().anyMatch(address -> nodes.get(address) == node);
    }

    @Override
    public Object lane(int slot, Object store) {
        HostAndPort owner = slotMap.owners.get(slot);
        return new Shard(owner == null ? "nobody" : owner.toString(), slot);
    }

    @Override
    int slotOf(Object lane) {
        return lane instanceof Shard shard ? shard.slot : 0;
    }

    @Override
    public boolean canFailOver() {
        return true;
    }

    @Override
    public boolean knowsSlots() {
        return true;
    }

    @Override
    public void failed(Node node) {
        failedLast = node;
        if (isOutdated()) {
            // Not waited for: whether a step fails does not depend on it, only where its repetition goes.
            lookup.start();
        }
    }

    @Override
    void moved(int slot, HostAndPort to) {
        super.moved(slot, to);
        synchronized (this) {
            if (!to.equals(slotMap.owners.get(slot))) { // the server that the map is loaded from may not know it yet
                Map<Integer, HostAndPort> owners = new HashMap<>(slotMap.owners);
                owners.put(slot, to);
                slotMap = new SlotMap(owners, List.copyOf(new LinkedHashSet<>(owners.values())));
            }
        }
    }

    private boolean isOutdated() {
        return drawn == 0 || System.nanoTime() - drawn >= BETWEEN_MAPS;
    }

    /** Loads the map again; the node that failed is asked last. */
    private SlotMap draw() {
        Set<HostAndPort> known = new LinkedHashSet<>(slotMap.masters);
        known.addAll(nodes.keySet());
        known.addAll(seeds);
        List<Node> inOrder = new ArrayList<>();
        known.forEach(address -> inOrder.add(at(address)));
        Node failed = failedLast;
        if (failed != null && inOrder.remove(failed)) {
            inOrder.add(failed);
        }
        SlotMap read = first(inOrder);
        synchronized (this) {
            slotMap = read;
            drawn = System.nanoTime();
        }
        return read;
    }

    private static SlotMap first(List<Node> nodes) {
        JedisException last = new JedisConnectionException("the Redis Cluster has no servers");
        for (Node node : nodes) {
            try {
                return read(node);
            } catch (JedisException e) {
                last = e instanceof JedisConnectionException
                        ? new JedisConnectionException(
                                "the server at " + node.address() + " does not answer: " + e.getMessage(), e)
                        : e;
            }
        }
        throw last;
    }

    /** Whether a node of a Cluster serves all of its slots, so that it may as well be used alone. */
    static boolean isAlone(Node node) {
        SlotMap all = read(node);
        return all.masters.size() == 1 && all.owners.size() == SLOTS;
    }

    private static SlotMap read(Node node) {
        List<?> ranges = Reply.list(node.command(new CommandArguments(Protocol.Command.CLUSTER).add("SLOTS")));
        Map<Integer, HostAndPort> owners = new HashMap<>();
        Set<HostAndPort> masters = new LinkedHashSet<>();
        for (Object each : ranges) {
            List<?> range = Reply.list(each);
            List<?> master = Reply.list(range.get(2));
            String host = master.get(0) instanceof byte[] bytes ? new String(bytes, StandardCharsets.UTF_8) : "";
            int port = ((Long) master.get(1)).intValue();
            HostAndPort owner = new HostAndPort(host.isEmpty() ? hostOf(node) : host, port);
            masters.add(owner);
            for (int slot = ((Long) range.get(0)).intValue(); slot <= (Long) range.get(1); slot++) {
                owners.put(slot, owner);
            }
        }
        if (masters.isEmpty()) {
            throw new JedisDataException("CLUSTERDOWN the server at " + node.address() + " knows of no slots");
        }
        return new SlotMap(owners, List.copyOf(masters));
    }

    /** A node that has met no other one does not know its own address. */
    private static String hostOf(Node node) {
        int colon = node.address().lastIndexOf(':');
        return colon < 0 ? node.address() : node.address().substring(0, colon);
    }

    @Override
    public void close() {
        lookup.close();
        nodes.values().forEach(Node::close);
    }
}
