// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.zookeeper;

import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.jspecify.annotations.Nullable;

/**
 * Which claims of this client wait for which nodes. One watcher serves them all: however often a claim looks again, and however
 * many give up before the node changes, the connection keeps one watch a node and this map nobody who has gone.
 */
final class Watches implements Watcher {
    /** Told whose node has changed. */
    interface Listener {
        /**
         * A node that the entry waits for is not as it was.
         *
         * @param deleted its path if it has gone, null if it has changed
         */
        void changed(Entry entry, @Nullable String deleted);
    }

    private final Map<String, Set<Entry>> waiting = new ConcurrentHashMap<>();
    private volatile Listener listener = (entry, deleted) -> {};

    void listener(Listener to) {
        listener = to;
    }

    /** From now on the entry waits for these nodes and for no others; to be called before they are read. */
    void await(Entry entry, List<String> paths) {
        for (String path : entry.awaited) {
            waiting.computeIfPresent(path, (p, entries) -> entries.remove(entry) && entries.isEmpty() ? null : entries);
        }
        entry.awaited = List.copyOf(paths);
        for (String path : paths) {
            waiting.compute(path, (p, entries) -> {
                Set<Entry> all = entries == null ? new HashSet<>() : entries;
                all.add(entry);
                return all;
            });
        }
    }

    @Override
    public void process(WatchedEvent event) {
        if (event.getType() == EventType.None) {
            return;
        }
        Set<Entry> entries = waiting.remove(event.getPath());
        if (entries != null) {
            String deleted = event.getType() == EventType.NodeDeleted ? event.getPath() : null;
            entries.forEach(entry -> listener.changed(entry, deleted));
        }
    }
}
