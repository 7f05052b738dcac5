// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.zookeeper;

import io.lockkeeper.LockInfo;
import io.lockkeeper.Mode;
import io.lockkeeper.Sequencer;
import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.spi.Terms;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.jspecify.annotations.Nullable;

/** Inspects names from outside, and breaks holds. */
final class Inspection {
    private static final int ATTEMPTS = 100;

    private final ClientState clientState;
    private final SessionMailbox mailbox;
    private final Damaged damaged = new Damaged();

    Inspection(ClientState clientState, SessionMailbox mailbox) {
        this.clientState = clientState;
        this.mailbox = mailbox;
    }

    /** A holder, with what its node says. */
    private record Holder(ClaimNode node, NameNodes.Seen seen, long endsIn, long shown) {
        boolean covers(long token) {
            long first = seen.data().token(seen.stat().getCzxid());
            return token >= first && token - first < seen.data().block();
        }

        long token() {
            return seen.data().token(seen.stat().getCzxid());
        }
    }

    private record Snapshot(Listing listing, List<Holder> holders, int overdue, long closedFor) {}

    Optional<LockInfo> inspect(String name, Session session) {
        session.await(session.sync(), "look");
        return describe(name, session);
    }

    private Optional<LockInfo> describe(String name, Session session) {
        Snapshot snapshot = snapshot(clientState.layout.name(name), session).orElse(null);
        if (snapshot == null) {
            return Optional.empty();
        }
        List<ClaimNode> nodes = snapshot.listing.nodes();
        int waiters = nodes.size() - snapshot.holders.size() - snapshot.overdue;
        if (snapshot.holders.isEmpty() && waiters == 0 && snapshot.closedFor <= 0) {
            return Optional.empty();
        }
        ClaimNode first = !snapshot.holders.isEmpty()
                ? snapshot.holders.get(snapshot.holders.size() - 1).node
                : waiters > 0 ? nodes.get(snapshot.overdue) : null;
        List<LockInfo.Hold> holds = new ArrayList<>();
        for (Holder holder : snapshot.holders) {
            NodeData data = holder.seen.data();
            holds.add(new LockInfo.Hold(
                    data.client(),
                    data.label(),
                    holder.token(),
                    holder.node.permits(),
                    Instant.ofEpochMilli(since(holder.seen)),
                    Duration.ofNanos(Math.max(1, holder.shown))));
        }
        return Optional.of(new LockInfo(
                name,
                first == null ? Mode.EXCLUSIVE : first.mode(),
                first == null ? 0 : first.limit(),
                holds,
                waiters,
                Duration.ofNanos(Math.max(0, snapshot.closedFor))));
    }

    /** Since when a hold exists: since its node does, unless it was granted later. */
    private static long since(NameNodes.Seen seen) {
        return seen.data().since() == 0 ? seen.stat().getCtime() : seen.data().since();
    }

    /**
     * Who holds a name and whose lease has run out; changes nothing, except that it starts the time of a lock-delay.
     */
    private Optional<Snapshot> snapshot(String parent, Session session) {
        Listing listing = clientState.nameNodes.list(session, parent).orElse(null);
        if (listing == null) {
            return Optional.empty();
        }
        long closed = clientState.lockDelay.closedFor(session, parent, listing);
        List<ClaimNode> front = listing.nodes().subList(0, listing.front());
        Map<String, NameNodes.Seen> read = new LinkedHashMap<>();
        clientState.nameNodes.readAll(session, parent, front).forEach(seen -> read.put(seen.path(), seen));
        List<Holder> holders = new ArrayList<>();
        int overdue = 0;
        long closedAfter = closed;
        for (ClaimNode node : front) {
            NameNodes.Seen seen = read.get(parent + "/" + node.name());
            if (seen == null || (closed > 0 && seen.data().state() == NodeData.State.QUEUED)) {
                continue;
            }
            long left = clientState.nameNodes.endsIn(session, seen);
            if (left <= 0) {
                overdue++;
                closedAfter = Math.max(closedAfter, left + LockDelay.after(seen.data()) * 1_000_000);
            } else {
                long lasts = left == NameNodes.NEVER ? lasts(seen.data()) : left;
                holders.add(new Holder(node, seen, lasts, shown(session, seen, lasts)));
            }
        }
        return Optional.of(new Snapshot(listing, holders, overdue, closedAfter));
    }

    private static long lasts(NodeData data) {
        long first = Terms.FIRST_LEASE.toMillis();
        return (data.state() == NodeData.State.GRANTED ? data.lease() : Math.min(first, data.lease())) * 1_000_000;
    }

    /**
     * The time that is displayed: a hold that its session keeps has been renewed within a third of its lease, or is
     * fixed.
     */
    private long shown(Session session, NameNodes.Seen seen, long lasts) {
        return seen.data().kept() ? Math.max(clientState.nameNodes.leftOf(session, seen), lasts / 3 * 2) : lasts;
    }

    List<LockInfo> list(String prefix, int limit, Session session) {
        session.await(session.sync(), "look");
        Reply buckets = session.await(session.children(clientState.layout.names()), "list");
        Map<String, CompletableFuture<Reply>> listed = new LinkedHashMap<>();
        for (String bucket : buckets.children()) {
            String path = clientState.layout.names() + "/" + bucket;
            listed.put(path, session.children(path));
        }
        List<String> names = new ArrayList<>();
        listed.forEach((bucket, asked) -> {
            for (String child : session.await(asked, "list").children()) {
                String path = bucket + "/" + child;
                String name = clientState.layout.nameOf(path).orElse(null);
                if (name == null) {
                    damaged.skipped(path);
                } else if (name.startsWith(prefix)) {
                    names.add(name);
                }
            }
        });
        return names.stream()
                .sorted()
                .map(name -> describeUnlessDamaged(name, session))
                .flatMap(Optional::stream)
                .limit(limit)
                .toList();
    }

    private Optional<LockInfo> describeUnlessDamaged(String name, Session session) {
        try {
            return describe(name, session);
        } catch (StoreUnavailableException e) {
            if (!Damaged.isCauseOf(e)) {
                throw e;
            }
            damaged.skipped(clientState.layout.name(name));
            return Optional.empty();
        }
    }

    boolean check(Sequencer sequencer, Session session) {
        session.await(session.sync(), "check");
        return snapshot(clientState.layout.name(sequencer.name()), session).stream()
                .flatMap(snapshot -> snapshot.holders.stream())
                .filter(holder -> holder.covers(sequencer.token()))
                .anyMatch(holder -> holder.node.mode() == sequencer.mode()
                        && !holder.seen.data().isRecalled());
    }

    // ---- Breaking ----

    boolean breakHold(String name, long token, Duration lockDelay, boolean now, Session session) {
        session.await(session.sync(), "break");
        String parent = clientState.layout.name(name);
        for (int i = 0; i < ATTEMPTS; i++) {
            Holder holder = snapshot(parent, session).stream()
                    .flatMap(snapshot -> snapshot.holders.stream())
                    .filter(h -> h.covers(token))
                    .findFirst()
                    .orElse(null);
            if (holder == null) {
                return false;
            }
            List<Op> ops = ops(holder, parent, NodeData.millis(lockDelay), now, session);
            Reply reply = session.await(session.multi(ops), "break");
            if (reply.isOk()) {
                if (now) {
                    session.delete(parent, -1); // if no other claim is there
                }
                return true;
            }
            if (!reply.is(Code.BADVERSION) && !reply.is(Code.NONODE) && !reply.is(Code.NODEEXISTS)) {
                throw Failures.of(reply.code(), "break");
            }
        }
        return false;
    }

    private List<Op> ops(Holder holder, String parent, long lockDelay, boolean now, Session session) {
        NameNodes.Seen seen = holder.seen;
        long lease = NodeData.millis(Duration.ofNanos(holder.endsIn));
        NodeData recalled = seen.data().recalled(lockDelay, lease);
        long delay = recalled.recalled();
        String marker = parent + "/" + Listing.MARKER + holder.node.id();
        boolean hasMarker = session.await(session.exists(marker, null), "break").isOk();
        List<Op> ops = new ArrayList<>();
        ops.add(Op.setData(seen.path(), recalled.bytes(), seen.stat().getVersion()));
        if (now) {
            ops.add(Op.delete(seen.path(), seen.stat().getVersion() + 1));
        }
        byte[] text = now ? LockDelay.closed(delay) : LockDelay.armed(delay);
        if (delay > 0) {
            ops.add(
                    hasMarker
                            ? Op.setData(marker, text, -1)
                            : Op.create(marker, text, session.acl(), CreateMode.PERSISTENT));
        } else if (hasMarker) {
            ops.add(Op.delete(marker, -1));
        }
        @Nullable Op word = mailbox.word(session, seen.stat().getEphemeralOwner(), now ? 'L' : 'R', holder.node.id());
        if (word != null) {
            ops.add(word);
        }
        return ops;
    }
}
