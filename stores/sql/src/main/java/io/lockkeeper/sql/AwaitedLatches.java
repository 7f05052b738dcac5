// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import io.lockkeeper.spi.NameCodec;
import io.lockkeeper.spi.Signals;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** The latches that clients of this store object await, and the query that asks the database whether they have opened. */
final class AwaitedLatches {
    private static final int AT_ONCE = 256;

    private final Sql sql;

    /** By name, the generation that each client has seen. */
    private final Map<String, Map<String, Long>> latches = new ConcurrentHashMap<>();

    private Map<String, State> seen = Map.of();

    private record State(long count, long generation) {}

    AwaitedLatches(Sql sql) {
        this.sql = sql;
    }

    void add(String name, String client, long generation) {
        latches.compute(name, (n, clients) -> {
            Map<String, Long> all = clients == null ? new ConcurrentHashMap<>() : clients;
            all.put(client, generation);
            return all;
        });
    }

    boolean isEmpty() {
        return latches.isEmpty();
    }

    /** Asks about all of them, and reports those that have opened; whether something has happened since the last time. */
    boolean look(Connection connection, Map<String, Signals> listeners) throws SQLException {
        List<String> names = List.copyOf(latches.keySet());
        Map<String, State> found = new HashMap<>();
        for (int i = 0; i < names.size(); i += AT_ONCE) {
            List<String> codes = names.subList(i, Math.min(names.size(), i + AT_ONCE)).stream()
                    .map(NameCodec::encode)
                    .toList();
            sql.query(connection, new Sql.Step("latches", Map.of("names", codes)), row -> {
                while (row.next()) {
                    found.put(row.getString("name"), new State(row.getLong("remaining"), row.getLong("generation")));
                }
            });
        }
        for (String name : names) {
            settled(name, found.get(NameCodec.encode(name)), listeners).forEach(listener -> listener.opened(name));
        }
        boolean changed = !found.equals(seen);
        seen = found;
        return changed;
    }

    /** Forgets clients that need not wait any longer; returns those of them that still listen. */
    private List<Signals> settled(String name, @Nullable State state, Map<String, Signals> listeners) {
        List<Signals> news = new ArrayList<>();
        latches.computeIfPresent(name, (n, clients) -> {
            clients.entrySet().removeIf(entry -> {
                Signals listener = listeners.get(entry.getKey());
                boolean goes = listener == null
                        || state == null
                        || state.count() == 0
                        || state.generation() != entry.getValue();
                if (goes && listener != null) {
                    news.add(listener);
                }
                return goes;
            });
            return clients.isEmpty() ? null : clients;
        });
        return news;
    }
}
