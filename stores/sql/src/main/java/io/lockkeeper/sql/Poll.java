// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import io.lockkeeper.model.Signal;
import io.lockkeeper.spi.Answer;
import io.lockkeeper.spi.Claim;
import io.lockkeeper.spi.ClaimId;
import io.lockkeeper.spi.Signals;
import io.lockkeeper.spi.StoreTime;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * For databases that tell nobody anything: one thread looks, at a jittered interval and in one query for all who wait, whether
 * claims of ours have been granted; and about once a second, while something is held, whether a hold is being broken. There is
 * no thread while nobody waits or holds.
 */
class Poll extends Wakes {
    private static final long SHORTEST = 5_000_000;
    private static final long LONGEST = 25_000_000;
    private static final long SLOW = 1_000_000_000;
    private static final int AT_ONCE = 256;

    private final Connections connections;
    private final Sql sql;
    private final long incarnation;
    private final Map<ClaimId, Place> waiting = new ConcurrentHashMap<>();
    private final Set<ClaimId> toldRecalled = ConcurrentHashMap.newKeySet();
    private final Map<String, Map<String, Long>> latches = new ConcurrentHashMap<>();
    private volatile long holdsUntil = System.nanoTime();
    private volatile boolean idles;
    private volatile boolean closed;
    private @Nullable Thread thread;
    private volatile long looks;
    private long lookedForBreaks = System.nanoTime();
    private long breaks;

    /**
     * A claim of ours.
     *
     * @param isQueued false until the database has said so: a claim that is granted at once is not told again
     */
    private record Place(String name, boolean isQueued) {}

    Poll(Connections connections, Sql sql, long incarnation) {
        this.connections = connections;
        this.sql = sql;
        this.incarnation = incarnation;
        this.breaks = connections.autocommit(this::countBreaks);
    }

    @Override
    List<Sql.Step> news(List<Signal> signals) {
        // They look for themselves; for holds that are being broken, only when there are any.
        boolean isBreak = signals.stream()
                .anyMatch(signal ->
                        signal instanceof Signal.Recalled && !listeners().containsKey(signal.client()));
        return isBreak ? List.of(new Sql.Step("break_note", Map.of())) : List.of();
    }

    @Override
    void holds(Duration remaining) {
        long until = System.nanoTime() + remaining.toNanos();
        if (until - holdsUntil > SLOW / 10) {
            holdsUntil = until;
            start();
        }
    }

    @Override
    void expect(Claim claim) {
        waiting.putIfAbsent(claim.id(), new Place(NameCode.encode(claim.name()), false));
    }

    @Override
    void await(Claim claim) {
        // What has been told already is no longer there.
        waiting.computeIfPresent(claim.id(), (id, place) -> new Place(place.name(), true));
        start();
    }

    @Override
    void forget(Claim claim) {
        waiting.remove(claim.id());
    }

    @Override
    void tellHere(List<Signal> signals) {
        List<Signal> news = new ArrayList<>(signals.size());
        for (Signal signal : signals) {
            // Who has removed it tells it.
            boolean isNews = true;
            if (signal instanceof Signal.Granted granted) {
                isNews = waiting.remove(granted.claim()) != null;
            } else if (signal instanceof Signal.Recalled recalled && listeners().containsKey(recalled.client())) {
                isNews = toldRecalled.add(recalled.claim());
            }
            if (isNews) {
                news.add(signal);
            }
        }
        super.tellHere(news);
    }

    @Override
    void awaitLatch(String name, String client, long generation) {
        latches.computeIfAbsent(name, n -> new ConcurrentHashMap<>()).put(client, generation);
        start();
    }

    private synchronized void start() {
        if (closed) {
            return;
        }
        if (thread == null) {
            thread = new Thread(this::loop, "lockkeeper-sql-poll");
            thread.setDaemon(true);
            thread.start();
        } else if (idles) {
            LockSupport.unpark(thread);
        }
    }

    private void loop() {
        while (!closed) {
            idles = true; // whoever comes from here on unparks
            idles = waiting.isEmpty() && latches.isEmpty();
            LockSupport.parkNanos(idles ? SLOW : pause());
            try {
                look();
                lookForBreaks();
            } catch (RuntimeException e) {
                // The database is away: those who wait find out by their own refreshes. Look again when it may be back.
                LockSupport.parkNanos(10 * LONGEST);
            }
            synchronized (this) {
                if (waiting.isEmpty() && latches.isEmpty() && System.nanoTime() - holdsUntil > 0) {
                    thread = null;
                    return;
                }
            }
        }
    }

    private void lookForBreaks() {
        long now = System.nanoTime();
        if (now - lookedForBreaks < SLOW) {
            return;
        }
        lookedForBreaks = now;
        connections.autocommit(connection -> {
            long count = countBreaks(connection);
            if (count != breaks) {
                tellRecalled(connection);
                breaks = count;
            }
            return true;
        });
    }

    private long countBreaks(Connection connection) throws SQLException {
        try (PreparedStatement s = sql.prepare(connection, "breaks", Map.of());
                ResultSet row = s.executeQuery()) {
            return row.next() ? row.getLong(1) : 0;
        }
    }

    private void tellRecalled(Connection connection) throws SQLException {
        Set<ClaimId> found = new HashSet<>();
        try (PreparedStatement s = sql.prepare(connection, "recalled", Map.of());
                ResultSet row = s.executeQuery()) {
            while (row.next()) {
                found.add(ClaimId.parse(row.getString(1)));
            }
        }
        toldRecalled.retainAll(found);
        for (ClaimId id : found) {
            Signals listener = listeners().get(id.client());
            if (listener != null && toldRecalled.add(id)) {
                listener.recalled(id);
            }
        }
    }

    /** How long to rest before the next look. */
    long pause() {
        return ThreadLocalRandom.current().nextLong(SHORTEST, LONGEST);
    }

    /** How often it has looked; for tests. */
    long looks() {
        return looks;
    }

    @SuppressWarnings("NonAtomicVolatileUpdate") // by one thread
    private void look() {
        looks++;
        waiting.keySet().removeIf(id -> !listeners().containsKey(id.client()));
        List<Map.Entry<ClaimId, Place>> all =
                waiting.entrySet().stream().filter(e -> e.getValue().isQueued()).toList();
        for (int i = 0; i < all.size(); i += AT_ONCE) {
            List<Map.Entry<ClaimId, Place>> part = all.subList(i, Math.min(all.size(), i + AT_ONCE));
            List<String> claims = part.stream().map(e -> e.getKey().toString()).toList();
            List<String> names =
                    part.stream().map(e -> e.getValue().name()).distinct().toList();
            connections.autocommit(c -> lookAt(c, Map.of("names", names, "claims", claims)));
        }
        for (String latch : Set.copyOf(latches.keySet())) {
            connections.autocommit(c -> lookAtLatch(c, latch));
        }
    }

    private boolean lookAt(Connection connection, Map<String, List<String>> which) throws SQLException {
        try (PreparedStatement s = sql.prepare(connection, "pending", which);
                ResultSet row = s.executeQuery()) {
            while (row.next()) {
                ClaimId id = ClaimId.parse(row.getString("claim"));
                Signals listener = listeners().get(id.client());
                Place place = waiting.get(id);
                // It may have been told meanwhile, and be claimed again just now: then the answer tells.
                boolean isNews = place != null && place.isQueued() && waiting.remove(id, place);
                if (isNews && listener != null) {
                    long at = row.getLong("at");
                    listener.granted(
                            id,
                            new Answer.Granted(
                                    row.getLong("token"),
                                    row.getInt("block"),
                                    Duration.of(row.getLong("expires") - at, ChronoUnit.MICROS),
                                    row.getInt("confirmed") != 0,
                                    new StoreTime(incarnation, at)));
                }
            }
        }
        return true;
    }

    private boolean lookAtLatch(Connection connection, String name) throws SQLException {
        long count = 0;
        long generation = 0;
        try (PreparedStatement s = sql.prepare(connection, "latch_select", Map.of("name", NameCode.encode(name)));
                ResultSet row = s.executeQuery()) {
            if (row.next()) {
                count = row.getLong("remaining");
                generation = row.getLong("generation");
            }
        }
        Map<String, Long> clients = latches.get(name);
        if (clients != null) {
            for (Map.Entry<String, Long> entry : Map.copyOf(clients).entrySet()) {
                Signals listener = listeners().get(entry.getKey());
                if (listener == null || count == 0 || generation != entry.getValue()) {
                    clients.remove(entry.getKey());
                    if (listener != null) {
                        listener.opened(name);
                    }
                }
            }
            latches.computeIfPresent(name, (n, left) -> left.isEmpty() ? null : left);
        }
        return true;
    }

    @Override
    public void close() {
        closed = true;
        Thread running;
        synchronized (this) {
            running = thread;
        }
        if (running != null) {
            LockSupport.unpark(running);
        }
    }
}
