// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.zookeeper;

import io.lockkeeper.LeaseLost.Reason;
import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.spi.Answer;
import io.lockkeeper.spi.ClaimId;
import io.lockkeeper.spi.Signals;
import io.lockkeeper.spi.StoreTime;
import io.lockkeeper.spi.Ticker;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/** What this client has in the store, its listeners, and what all steps need. */
final class ClientState {
    /** The same for all stores of this JVM, which can then be compared. */
    private static final long EPOCH_MICROS = System.currentTimeMillis() * 1_000 - Ticker.SYSTEM.nanos() / 1_000;

    /** No more names than these are remembered as in use by others. */
    private static final int BUSY_AT_MOST = 10_000;

    /** The server's default limit of a message is 1 MiB; the rest is left for the session's other data. */
    static final long MOST_RESERVED = 750_000;

    /** What a path takes in addition to the text of the name and the claim. */
    private static final int BESIDE_PATH = 32;

    final Ticker ticker;
    final Layout layout;
    final NameNodes nameNodes;
    final LockDelay lockDelay;
    final RememberedIds<Boolean> refusedIds = new RememberedIds<>(this::time);
    final Map<ClaimId, Entry> entries = new ConcurrentHashMap<>();

    /** Holds that were broken, with the time at which their leases would have ended. */
    private final Map<ClaimId, Long> broken = new ConcurrentHashMap<>(0);

    /** The same of holds whose nodes are gone: the message that they were broken may still be in the mailbox. */
    private final Map<ClaimId, Long> gone = new ConcurrentHashMap<>(0);

    private final Map<String, Signals> listeners = new ConcurrentHashMap<>();
    private final Set<String> busy = ConcurrentHashMap.newKeySet();
    private final AtomicLong reserved = new AtomicLong();
    private volatile @Nullable Worker worker;

    ClientState(Ticker ticker, Layout layout) {
        this.ticker = ticker;
        this.layout = layout;
        this.nameNodes = new NameNodes(ticker);
        this.lockDelay = new LockDelay(nameNodes);
    }

    void worker(Worker w) {
        worker = w;
    }

    /**
     * The time of this store is this client's own: all copies of its claims pass through here, where their deadlines
     * are checked, and what is still on the wire is fenced off.
     */
    StoreTime time() {
        return time(ticker.nanos());
    }

    private static StoreTime time(long nanos) {
        return new StoreTime(1, EPOCH_MICROS + nanos / 1_000);
    }

    // ---- Signals ----

    void listen(String client, Signals signals) {
        listeners.put(client, signals);
    }

    void unlisten(String client, Signals signals) {
        listeners.remove(client, signals);
    }

    /** Notifies all listeners; one that throws does not affect the others. */
    void tellAll(Consumer<Signals> what) {
        for (Signals signals : listeners.values()) {
            try {
                what.accept(signals);
            } catch (Throwable e) {
                Failures.log("a listener failed", e);
            }
        }
    }

    void tell(String client, Consumer<Signals> what) {
        Signals signals = listeners.get(client);
        if (signals != null) {
            what.accept(signals);
        }
    }

    // ---- Names that others use, too: not worth the attempt to be the only one ----

    boolean isBusy(String parent) {
        return busy.contains(parent);
    }

    void busy(String parent) {
        if (busy.size() >= BUSY_AT_MOST) {
            busy.clear();
        }
        busy.add(parent);
    }

    void idle(String parent) {
        busy.remove(parent);
    }

    // ---- Entries ----

    /** Sets when an entry ends by itself. */
    void endsAt(Entry entry, long at) {
        entry.endsAt = at;
        wakeBy(at);
    }

    /** Wakes the worker at this time, or before. */
    void wakeBy(long at) {
        Worker w = worker;
        if (w != null) {
            w.wakeBy(at);
        }
    }

    /** Schedules a check of an entry on the worker thread. */
    void lookLater(Entry entry) {
        changed(entry, Watches.Change.UNKNOWN);
    }

    /** See {@link Watches.Listener}. */
    void changed(Entry entry, Watches.Change change) {
        Worker w = worker;
        if (w != null) {
            w.look(entry, change);
        }
    }

    /**
     * Takes a share of what one session may have. When a session ends, the ensemble handles the paths of all its nodes
     * in one message, and an ensemble that cannot send it stops serving all its clients.
     *
     * @throws StoreUnavailableException when there is no room
     */
    void reserve(Entry entry) {
        int needed = entry.parent.length()
                + ClaimNode.prefix(entry.claim.id(), entry.claim.terms()).length()
                + BESIDE_PATH;
        long all = reserved.addAndGet(needed);
        if (all > MOST_RESERVED) {
            reserved.addAndGet(-needed);
            throw StoreUnavailableException.lasting(
                    "this client has " + entries.size()
                            + " holds and waiters in its ZooKeeper session, whose paths take "
                            + (all - needed) + " bytes; more than " + MOST_RESERVED
                            + " in one session would endanger the ensemble. Spread them over several keepers: each has"
                            + " its own session",
                    null);
        }
        entry.reserved.set(needed);
    }

    /** Forgets an entry; its id is refused from now on if a copy of it may be on its way. */
    void drop(Entry entry) {
        forget(entry);
        if (entry.claim.stray()) {
            refusedIds.keep(entry.claim.id(), true, entry.claim.deadline());
        }
    }

    /** Forgets an entry that led to nothing: its claim may be made again. */
    void forget(Entry entry) {
        entry.state = Entry.State.ENDED;
        entries.remove(entry.claim.id(), entry);
        reserved.addAndGet(-entry.reserved.getAndSet(0));
        Session session = entry.session;
        if (session != null) {
            session.watches.await(entry, List.of());
        }
    }

    /** Forgets a hold that has ended without a release, and notifies the holder. */
    void lost(Entry entry, Reason reason) {
        boolean held = entry.state == Entry.State.GRANTED;
        drop(entry);
        if (reason == Reason.BROKEN) {
            remember(broken, entry.claim.id(), entry.endsAt);
        }
        if (held) {
            tell(entry.claim.id().client(), s -> s.lost(entry.claim.id(), reason));
        }
    }

    private void remember(Map<ClaimId, Long> holds, ClaimId id, long until) {
        holds.values().removeIf(end -> end <= ticker.nanos());
        holds.put(id, until);
    }

    /** Forgets an entry whose node is gone, before it is known why. */
    void gone(Entry entry) {
        if (entry.state == Entry.State.GRANTED) {
            remember(gone, entry.claim.id(), entry.endsAt);
        }
        drop(entry);
    }

    /** A message says that a hold was broken whose entry has been forgotten. */
    void broken(ClaimId id) {
        Long until = gone.remove(id);
        if (until != null) {
            remember(broken, id, until);
        }
    }

    /** Whether this hold was broken immediately; known for as long as its lease would have lasted. */
    boolean isBroken(ClaimId id) {
        Long until = broken.get(id);
        return until != null && until > ticker.nanos();
    }

    Answer.Granted granted(Entry entry) {
        return granted(entry, ticker.nanos());
    }

    /** The answer for a grant, with what remained of it at this time. */
    Answer.Granted granted(Entry entry, long at) {
        return new Answer.Granted(
                entry.data.token(entry.czxid),
                entry.data.block(),
                Duration.ofNanos(entry.endsAt - at),
                entry.isConfirmed(),
                time(at));
    }

    Answer.Refused refused(Answer.Why why, String detail) {
        return new Answer.Refused(why, detail, Duration.ZERO, time());
    }

    /**
     * Looks at the answer to a write of the entry's node that was not waited for.
     *
     * @return false when the node has gone
     */
    boolean settle(Entry entry, Session session) {
        CompletableFuture<Reply> pending = entry.pending;
        if (pending == null) {
            return true;
        }
        if (!pending.isDone() && session.isStuck()) {
            // Its answer may be late; what is sent from now on is carried out after it, if it is carried out at all.
            return reread(entry, session);
        }
        Reply reply;
        try {
            reply = session.await(pending, "claim");
        } catch (StoreUnavailableException e) {
            if (pending.isDone()) {
                entry.pending =
                        CompletableFuture.completedFuture(Reply.of(Code.BADVERSION.intValue(), null, null, List.of()));
            }
            throw e;
        }
        entry.pending = null;
        if (reply.isOk()) {
            entry.version = written(reply).getVersion();
            return true;
        }
        return reread(entry, session);
    }

    private static Stat written(Reply reply) {
        Stat stat = reply.stat();
        if (stat != null) {
            return stat;
        }
        OpResult last = reply.results().get(reply.results().size() - 1);
        return ((OpResult.SetDataResult) last).getStat();
    }

    /**
     * Learns what others have written to the entry's node; false when it has gone. Text that we did not write takes the
     * node away from its holder as a break does.
     */
    boolean reread(Entry entry, Session session) {
        entry.pending = null;
        Reply reply = session.await(session.read(entry.path(), null), "claim");
        if (!reply.isOk()) {
            return false;
        }
        entry.version = reply.theStat().getVersion();
        NodeData said = NodeData.read(reply.text()).orElse(null);
        if (said != null && said.isRecalled()) {
            entry.data = entry.data.recalled(said.recalled(), said.lease());
            entry.hasMarker = said.recalled() > 0;
            entry.recalled = true;
            return true;
        }
        entry.hasMarker = session.await(session.exists(entry.marker(), null), "lock-delay")
                .isOk();
        if (said == null) {
            entry.data = entry.data.recalled(entry.hasMarker ? entry.data.lockDelay() : 0, entry.data.lease());
            entry.recalled = true;
        }
        return true;
    }
}
