// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.zookeeper;

import io.lockkeeper.spi.Ticker;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.data.Stat;

/**
 * What the server knows of a name: who is there, and whose lease has run out.
 *
 * <p><b>Leases.</b> A node says how long after it was last written its hold lasts, by the leader's clock. A node whose
 * lease has run out is deleted, if nothing has been written since. If another leader's clock stamped it, the time is
 * counted by our clock, from when we first saw the node.
 */
final class NameNodes {
    private static final int SEEN_AT_MOST = 1_000;

    /**
     * This many holders in front are checked for overdue ones; where hundreds of readers hold, the awaited one is
     * enough.
     */
    private static final int LOOKED_AT = 16;

    /**
     * Nodes that are read in one request: with the longest names, and their data, less than half of the largest request
     * allowed.
     */
    private static final int READ_TOGETHER = 250;

    static final long NEVER = Long.MAX_VALUE / 4;

    private final Ticker ticker;
    private final Map<String, Long> firstSeen = new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Long> eldest) {
            return size() > SEEN_AT_MOST;
        }
    };

    /** A node as it was read. */
    record Seen(String path, NodeData data, Stat stat) {}

    NameNodes(Ticker ticker) {
        this.ticker = ticker;
    }

    /** The claims of a name; empty if it has no node. */
    Optional<Listing> list(Session session, String parent) {
        return listed(session, parent, session.children(parent));
    }

    Optional<Listing> listed(Session session, String parent, CompletableFuture<Reply> children) {
        Reply reply = session.await(children, "listing");
        if (!reply.isOk()) {
            return Optional.empty();
        }
        long changed = reply.theStat().getPzxid();
        return Optional.of(Listing.of(reply.children(), changed, unclear -> czxids(session, parent, unclear)));
    }

    private static Map<String, Long> czxids(Session session, String parent, List<ClaimNode> nodes) {
        Map<String, CompletableFuture<Reply>> asked = new LinkedHashMap<>();
        nodes.forEach(node -> asked.put(node.name(), session.exists(parent + "/" + node.name(), null)));
        Map<String, Long> known = new HashMap<>();
        asked.forEach((name, future) -> {
            Reply reply = session.await(future, "place");
            if (reply.isOk()) {
                known.put(name, reply.theStat().getCzxid());
            }
        });
        return known;
    }

    Optional<Seen> read(Session session, String path) {
        return seen(session, path, session.read(path, null));
    }

    static Optional<Seen> seen(Session session, String path, CompletableFuture<Reply> asked) {
        Reply reply = session.await(asked, "claim");
        return reply.isOk()
                ? Optional.of(new Seen(path, NodeData.parse(path, reply.text()), reply.theStat()))
                : Optional.empty();
    }

    /** These claims, read together; those that have gone are left out. */
    List<Seen> readAll(Session session, String parent, List<ClaimNode> nodes) {
        if (nodes.size() == 1) {
            return read(session, parent + "/" + nodes.get(0).name()).stream().toList();
        }
        List<Seen> all = new ArrayList<>(nodes.size());
        readMany(session, nodes.stream().map(node -> parent + "/" + node.name()).toList())
                .forEach((path, found) -> all.add(seen(path, found)));
        return all;
    }

    static Seen seen(String path, OpResult.GetDataResult found) {
        NodeData data = NodeData.parse(path, new String(found.getData(), StandardCharsets.UTF_8));
        return new Seen(path, data, found.getStat());
    }

    /** Reads any nodes, in one request per a few hundred of them; missing ones are left out. */
    static Map<String, OpResult.GetDataResult> readMany(Session session, Collection<String> paths) {
        List<String> all = List.copyOf(new LinkedHashSet<>(paths));
        List<CompletableFuture<Reply>> asked = new ArrayList<>();
        for (int i = 0; i < all.size(); i += READ_TOGETHER) {
            List<Op> ops = new ArrayList<>();
            all.subList(i, Math.min(all.size(), i + READ_TOGETHER)).forEach(path -> ops.add(Op.getData(path)));
            asked.add(session.multi(ops));
        }
        Map<String, OpResult.GetDataResult> found = new LinkedHashMap<>();
        for (int i = 0; i < asked.size(); i++) {
            List<OpResult> results = session.await(asked.get(i), "claims").results();
            for (int k = 0; k < results.size(); k++) {
                if (results.get(k) instanceof OpResult.GetDataResult data) {
                    found.put(all.get(i * READ_TOGETHER + k), data);
                }
            }
        }
        return found;
    }

    // ---- Leases ----

    /**
     * In how many nanoseconds a hold's lease runs out; not positive when it has, {@link #NEVER} when only its session
     * ends it.
     */
    long endsIn(Session session, Seen seen) {
        NodeData data = seen.data();
        if (!data.isRecalled() && (data.kept() || data.state() != NodeData.State.GRANTED)) {
            return NEVER;
        }
        return leftOf(session, seen);
    }

    /** What is left of the lease that a hold's node states, by the leader's clock; a hold that is kept lasts longer. */
    long leftOf(Session session, Seen seen) {
        return left(session, seen.path(), seen.stat(), seen.data().lease());
    }

    /** What is left of that many ms since a node was last written. */
    long left(Session session, String path, Stat stat, long millis) {
        LeaderTime leader = session.leaderTime();
        if (leader.isOf(stat.getMzxid())) {
            return (stat.getMtime() + millis - leader.now(ticker.nanos())) * 1_000_000;
        }
        long now = ticker.nanos();
        synchronized (firstSeen) {
            long first = firstSeen.computeIfAbsent(path + "@" + stat.getMzxid(), k -> now);
            return first + millis * 1_000_000 - now;
        }
    }

    /**
     * The result of checking the front of the queue: whether a holder was evicted, and when the next lease runs out.
     */
    record Front(boolean evicted, long nextEnd) {}

    /** The holders that are checked for overdue ones. */
    static List<ClaimNode> front(Listing listing) {
        return listing.nodes().subList(0, Math.min(LOOKED_AT, listing.front()));
    }

    /** Evicts those of the holders whose leases have run out. */
    Front evictOverdue(Session session, List<Seen> holders) {
        boolean evicted = false;
        long next = NEVER;
        for (Seen seen : holders) {
            long left = endsIn(session, seen);
            if (left <= 0) {
                evict(session, seen, left);
                evicted = true;
            } else {
                next = Math.min(next, left);
            }
        }
        return new Front(evicted, next);
    }

    /** Ends a hold whose lease has run out, unless it has been written since. */
    void evict(Session session, Seen seen, long left) {
        String parent = Layout.parent(seen.path());
        int version = seen.stat().getVersion();
        long delay = LockDelay.after(seen.data());
        String marker = markerOf(seen.path());
        List<Op> ops = new ArrayList<>();
        if (delay == 0) {
            ops.add(Op.delete(seen.path(), version));
        } else {
            // The write informs those that watch the node that this is not a release: they check again.
            ops.add(Op.setData(seen.path(), seen.data().bytes(), version));
            ops.add(Op.delete(seen.path(), version + 1));
            long more = delay + left / 1_000_000;
            ops.add(more > 0 ? Op.setData(marker, LockDelay.closed(more), -1) : Op.delete(marker, -1));
        }
        Reply reply = session.await(session.multi(ops), "eviction");
        if (reply.is(Code.NONODE) && reply.failed() == ops.size() - 1 && delay > 0) {
            session.await(session.delete(seen.path(), version), "eviction");
        }
        session.delete(parent, -1); // if it is empty now
    }

    private static String markerOf(String path) {
        String parent = Layout.parent(path);
        String id = ClaimNode.parse(path.substring(parent.length() + 1))
                .orElseThrow()
                .id();
        return parent + "/" + Listing.MARKER + id;
    }
}
