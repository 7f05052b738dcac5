// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.zookeeper;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.jspecify.annotations.Nullable;

/**
 * Which claims of a session wait for which nodes. One watcher serves them all: however often a claim looks again, and
 * however many give up before the node changes, the connection keeps one watch per node and this map keeps no claim
 * that has gone.
 *
 * <p><b>Disconnects.</b> On one connection a watch reports the first change of a node. After a reconnect it reports
 * only how the node is now: of one that was written and then deleted, the deletion. So each event says how many
 * disconnects there were before it. They are counted in the order of events: a claim that had a watch when the
 * connection broke is notified of that first.
 *
 * <p><b>Nodes of this session.</b> When a session ends, its nodes are deleted one after another, and those that waited in it
 * may be notified before the client knows that it has ended. So each event of a node that has gone says whether one of
 * our steps deleted it, and waits for the answer to that step, which follows immediately.
 */
final class Watches implements Watcher {
    /** Notified when a node has changed. */
    interface Listener {
        /** A node that the entry waits for is not as it was. */
        void changed(Entry entry, Change change);
    }

    /**
     * What has happened to a node.
     *
     * @param deleted its path if it has gone, null if it has changed
     * @param byUs whether a step made in this session deleted it: then the session lived at that moment
     * @param disconnects how many there were before
     */
    record Change(@Nullable String deleted, boolean byUs, long disconnects) {
        /** Something may have changed. */
        static final Change UNKNOWN = new Change(null, false, 0);
    }

    private final Map<String, Set<Entry>> waiting = new ConcurrentHashMap<>();

    /** Nodes that one of our steps in progress deletes, and whether it has. */
    private final Map<String, CompletableFuture<Boolean>> deleting = new ConcurrentHashMap<>(0);

    private final Listener listener;
    private final AtomicLong disconnects = new AtomicLong();

    Watches(Listener listener) {
        this.listener = listener;
    }

    /** How many disconnects have been reported so far. */
    long disconnects() {
        return disconnects.get();
    }

    /**
     * From now on the entry waits for these nodes and for no others; to be called before they are read.
     *
     * @return those that must be read with this watcher, because nobody has
     */
    List<String> await(Entry entry, Collection<String> paths) {
        for (String path : entry.awaited) {
            if (!paths.contains(path)) {
                waiting.computeIfPresent(
                        path, (p, entries) -> entries.remove(entry) && entries.isEmpty() ? null : entries);
            }
        }
        entry.awaited = Set.copyOf(paths);
        List<String> unwatched = new ArrayList<>(1);
        for (String path : paths) {
            waiting.compute(path, (p, entries) -> {
                Set<Entry> all = entries;
                if (all == null) {
                    all = ConcurrentHashMap.newKeySet();
                    unwatched.add(path);
                }
                all.add(entry);
                return all;
            });
        }
        return unwatched;
    }

    /** Whether the entry waits for something, and none of it has changed since it looked. */
    boolean isAwaiting(Entry entry) {
        for (String path : entry.awaited) {
            Set<Entry> entries = waiting.get(path);
            if (entries == null || !entries.contains(entry)) {
                return false;
            }
        }
        return !entry.awaited.isEmpty();
    }

    /** A node could not be read, so nobody watches it: those who wait for it look again when they are refreshed. */
    void unwatched(String path) {
        waiting.remove(path);
    }

    /** A node has gone before it could be watched: those who wait for it look again, this entry by itself. */
    void gone(String path, Entry but) {
        Set<Entry> entries = waiting.remove(path);
        if (entries != null) {
            entries.remove(but);
            tell(entries, null, false, disconnects.get());
        }
    }

    /**
     * Makes a step that deletes a node. For those that wait for the node, its deletion is then a release, if the answer
     * confirms the step.
     */
    CompletableFuture<Reply> delete(String path, Supplier<CompletableFuture<Reply>> step) {
        CompletableFuture<Boolean> done = new CompletableFuture<>();
        deleting.put(path, done); // first: the event comes before the answer
        try {
            return step.get().whenComplete((answer, e) -> deleted(path, done, answer != null && answer.isOk()));
        } catch (Throwable e) {
            deleted(path, done, false);
            throw e;
        }
    }

    private void deleted(String path, CompletableFuture<Boolean> done, boolean byUs) {
        deleting.remove(path, done);
        done.complete(byUs);
    }

    private void tell(Set<Entry> entries, @Nullable String deleted, boolean byUs, long before) {
        Change change = new Change(deleted, byUs, before);
        entries.forEach(entry -> listener.changed(entry, change));
    }

    @Override
    public void process(WatchedEvent event) {
        if (event.getType() == EventType.None) {
            if (event.getState() != KeeperState.SyncConnected) {
                disconnects.incrementAndGet();
            }
            return;
        }
        Set<Entry> entries = waiting.remove(event.getPath());
        if (entries != null) {
            long before = disconnects.get();
            String deleted = event.getType() == EventType.NodeDeleted ? event.getPath() : null;
            CompletableFuture<Boolean> step = deleted == null ? null : deleting.get(deleted);
            if (step == null) {
                tell(entries, deleted, false, before);
            } else {
                step.thenAccept(byUs -> tell(entries, deleted, byUs, before));
            }
        }
    }
}
