// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import io.lockkeeper.spi.Answer;
import io.lockkeeper.spi.Claim;
import io.lockkeeper.spi.ClaimId;
import io.lockkeeper.spi.NameCodec;
import io.lockkeeper.spi.Signals;
import io.lockkeeper.spi.StoreTime;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The claims of this store object that may be queued, and the query that asks the database what has become of them. A
 * grant is reported once, by the thread that removes the claim from here.
 */
final class AwaitedClaims {
    /** Asked about in one statement. */
    static final int AT_ONCE = 256;

    private final Sql sql;
    private final long incarnation;
    private final Map<ClaimId, Place> waiting = new ConcurrentHashMap<>();

    /** How many were ahead of claims when their places were last refreshed. */
    private final Map<ClaimId, Integer> ahead = new ConcurrentHashMap<>();

    /** The state of names at the last look. */
    private final Map<String, Standing> seen = new ConcurrentHashMap<>();

    /**
     * One of our claims.
     *
     * @param isQueued false until the database has said so: a claim that is granted immediately is not reported again
     */
    private record Place(String code, boolean isQueued) {}

    /** What changes when something happens to a name. */
    private record Standing(
            @Nullable String claim, int holders, int waiters, long floor, long nextSeq, boolean overdue) {}

    /**
     * What a look has found.
     *
     * @param changed whether something has happened since the last one
     * @param opensIn how many µs the first of the names stays taken or closed at most; {@link Long#MAX_VALUE} when none is
     */
    record Look(boolean changed, long opensIn) {}

    AwaitedClaims(Sql sql, long incarnation) {
        this.sql = sql;
        this.incarnation = incarnation;
    }

    /** It is about to be made, and may be queued. */
    void expect(Claim claim) {
        waiting.putIfAbsent(claim.id(), new Place(NameCodec.encode(claim.name()), false));
    }

    /** It is queued, unless it has been granted and reported in the meantime. */
    void queued(Claim claim) {
        waiting.computeIfPresent(claim.id(), (id, place) -> new Place(place.code(), true));
    }

    /** It is queued, with that many claims ahead; answers whether that has changed. */
    boolean stands(Claim claim, int count) {
        if (!waiting.containsKey(claim.id())) {
            return false;
        }
        Integer before = ahead.put(claim.id(), count);
        return before != null && before != count;
    }

    int size() {
        return waiting.size();
    }

    /** Whether it is known to be queued, so that it can be asked about. */
    boolean isQueued(ClaimId claim) {
        Place place = waiting.get(claim);
        return place != null && place.isQueued();
    }

    /** True for the caller that is to report its grant. */
    boolean remove(ClaimId claim) {
        ahead.remove(claim);
        return waiting.remove(claim) != null;
    }

    boolean isEmpty() {
        return waiting.isEmpty();
    }

    /** Forgets claims of clients that nobody listens for any more. */
    void retain(Map<String, Signals> listeners) {
        waiting.keySet().removeIf(id -> !listeners.containsKey(id.client()));
    }

    /** The claims that are known to be queued. */
    List<ClaimId> queued() {
        return waiting.entrySet().stream()
                .filter(e -> e.getValue().isQueued())
                .map(Map.Entry::getKey)
                .toList();
    }

    /** Forgets the state of names that none of our claims waits for. */
    void forgetOthers() {
        Collection<String> codes = waiting.values().stream().map(Place::code).toList();
        seen.keySet().retainAll(codes);
        ahead.keySet().retainAll(waiting.keySet());
    }

    /** Asks about some of these claims, and reports those that have been granted. */
    Look look(Connection connection, List<ClaimId> claims, Map<String, Signals> listeners) throws SQLException {
        Map<String, Place> places = new HashMap<>();
        for (ClaimId id : claims) {
            Place place = waiting.get(id);
            if (place != null) {
                places.put(id.toString(), place);
            }
        }
        if (places.isEmpty()) {
            return new Look(false, Long.MAX_VALUE);
        }
        List<String> codes =
                places.values().stream().map(Place::code).distinct().toList();
        Map<String, Standing> found = new HashMap<>();
        long[] opensIn = {Long.MAX_VALUE};
        Sql.Step step = new Sql.Step("pending", Map.of("names", codes, "claims", List.copyOf(places.keySet())));
        sql.query(connection, step, row -> {
            while (row.next()) {
                if (row.getInt("holders") >= 0) {
                    long left = opensIn(row);
                    opensIn[0] = left > 0 ? Math.min(opensIn[0], left) : opensIn[0];
                    found.put(row.getString("name"), standing(row, left <= 0));
                }
                String claim = row.getString("claim");
                Place place = claim == null || row.getInt("holders") == 0 ? null : places.get(claim);
                if (place != null) {
                    report(ClaimId.parse(claim), place, row, listeners);
                }
            }
        });
        boolean changed = false;
        for (String code : codes) {
            Standing now = found.get(code);
            Standing before = now == null ? seen.remove(code) : seen.put(code, now);
            changed |= now == null ? before != null : !now.equals(before);
        }
        return new Look(changed, opensIn[0]);
    }

    private static long opensIn(ResultSet row) throws SQLException {
        long opens = row.getInt("holders") > 0 ? row.getLong("expires") : row.getLong("closed_until");
        return opens - row.getLong("at");
    }

    private static Standing standing(ResultSet row, boolean overdue) throws SQLException {
        return new Standing(
                row.getString("claim"),
                row.getInt("holders"),
                row.getInt("waiters"),
                row.getLong("floor"),
                row.getLong("next_seq"),
                overdue);
    }

    private void report(ClaimId id, Place place, ResultSet row, Map<String, Signals> listeners) throws SQLException {
        Signals listener = listeners.get(id.client());
        // It may have been reported in the meantime, and be claimed again just now: then the answer reports it.
        boolean isNews = place.isQueued() && waiting.remove(id, place);
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
