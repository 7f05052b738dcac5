// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.zookeeper;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.jspecify.annotations.Nullable;

/**
 * Which claims of a session wait for which nodes. One watcher serves them all: however often a claim looks again, and however
 * many give up before the node changes, the connection keeps one watch per node and this map nobody who has gone.
 *
 * <p><b>Disconnects.</b> On one connection a watch reports the first change of a node. After a reconnect it reports only how
 * the node is now: of one that was written and then deleted, the deletion. So each event says how many disconnects there
 * were before it. They are counted in the order of events: whoever had a watch when the connection broke is told so first.
 */
final class Watches implements Watcher {
    /** Told whose node has changed. */
    interface Listener {
        /**
         * A node that the entry waits for is not as it was.
         *
         * @param deleted its path if it has gone, null if it has changed
         * @param disconnects how many there were before
         */
        void changed(Entry entry, @Nullable String deleted, long disconnects);
    }

    private final Map<String, Set<Entry>> waiting = new ConcurrentHashMap<>();
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
            entries.forEach(entry -> listener.changed(entry, null, disconnects.get()));
        }
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
            String deleted = event.getType() == EventType.NodeDeleted ? event.getPath() : null;
            entries.forEach(entry -> listener.changed(entry, deleted, disconnects.get()));
        }
    }
}
