// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import io.lockkeeper.LeaseLost.Reason;
import io.lockkeeper.model.Held;
import io.lockkeeper.model.Ledger;
import io.lockkeeper.model.NameState;
import io.lockkeeper.model.Signal;
import io.lockkeeper.model.Waiting;
import io.lockkeeper.spi.ClaimId;
import io.lockkeeper.spi.NameCodec;
import io.lockkeeper.spi.Renewal;
import io.lockkeeper.spi.Renewals;
import io.lockkeeper.spi.StoreTime;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A name as its row and its claims say, while its row is locked; and the ledger for its rules. */
final class LoadedName implements Ledger {
    final String name;
    final String code;
    final List<Signal> signals = new ArrayList<>();

    /** Of a name that is loaded in part: holds that are lengthened, by their new end. */
    final Map<Long, List<String>> lengthened = new LinkedHashMap<>();

    /** The claims of the name that are in the table, by id. */
    final Map<String, Entry> inTable = new HashMap<>();

    /** No name has more holders, nor more waiters. */
    private static final int MOST_CLAIMS = 1_000_000_000;

    /** A name with more holders and waiters than this may be loaded in part. */
    static final int FEW = 32;

    private final Sql sql;
    private final long incarnation;
    private final int waiters;
    private final int count;
    private final long closedUntil;
    private final @Nullable Held first;
    private final List<Entry> entries = new ArrayList<>();
    private StoreTime time;
    private Deadlines strays;
    private long floor;
    private long nextSeq;
    private int hidden;
    private boolean isPart;
    private @Nullable NameState state;
    private Map<String, @Nullable Object> before = Map.of();

    /**
     * A claim's row: a holder but the first, or a waiter.
     *
     * @param code of its name
     */
    record Entry(
            String code,
            String id,
            long seq,
            @Nullable Held held,
            @Nullable Waiting waiting,
            Map<String, Object> columns) {}

    /** The name of this row of the table of names. */
    LoadedName(Sql sql, long incarnation, ResultSet row) throws SQLException {
        this.sql = sql;
        this.incarnation = incarnation;
        this.code = row.getString("name");
        this.name = NameCodec.decode(code);
        this.time = new StoreTime(incarnation, row.getLong("at"));
        this.nextSeq = row.getLong("next_seq");
        this.waiters = count(row, "waiters");
        this.count = count(row, "holders");
        this.closedUntil = row.getLong("closed_until");
        this.floor = row.getLong("floor");
        this.strays = Deadlines.parse(row.getString("strays"), time.micros());
        this.first = count > 0 ? ClaimColumns.held(row, name, incarnation) : null;
    }

    private static int count(ResultSet row, String column) throws SQLException {
        int count = row.getInt(column); // less than none is none
        ClaimColumns.within(Math.max(0, count), column, MOST_CLAIMS);
        return count;
    }

    /** Whether there is more to load. */
    boolean hasClaims() {
        return waiters > 0 || count > 1;
    }

    void addClaim(ResultSet row) throws SQLException {
        String id = row.getString("claim");
        long seq = row.getLong("seq");
        Entry entry;
        if (row.getString("state").equals("H")) {
            Held held = ClaimColumns.held(row, name, incarnation);
            entry = new Entry(code, id, seq, held, null, ClaimColumns.entry(held));
        } else {
            Waiting waiting = ClaimColumns.waiting(row, name, incarnation);
            entry = new Entry(code, id, seq, null, waiting, ClaimColumns.entry(waiting));
        }
        entries.add(entry);
        inTable.put(id, entry);
    }

    /**
     * All that is needed has been loaded.
     *
     * @param isAll whether that is all that there is; otherwise the end of the queue may be missing
     * @param now a time at which the row was locked already
     */
    void loaded(boolean isAll, long now) {
        time = new StoreTime(incarnation, now);
        // The row counts its claims. Others are from before it was made: somebody has emptied one table and not the
        // other.
        // They are the older ones, as a row's numbers begin with the time at which it was made.
        int most = waiters + Math.max(0, count - 1);
        if (entries.size() > most) {
            List<Entry> young = entries.stream()
                    .sorted(Comparator.comparingLong((Entry e) -> e.seq()).reversed())
                    .limit(most)
                    .toList();
            entries.retainAll(young);
        }
        List<Held> holders = new ArrayList<>();
        List<Waiting> queue = new ArrayList<>();
        if (first != null) {
            holders.add(first);
        }
        for (Entry entry : entries) {
            if (entry.held() != null) {
                holders.add(entry.held());
            } else if (entry.waiting() != null) {
                queue.add(entry.waiting());
            }
        }
        hidden = isAll ? 0 : Math.max(0, waiters - queue.size());
        state = new NameState(name, holders, queue, closedUntil);
        before = columns();
        before.put("holders", count);
        before.put("waiters", waiters);
    }

    /** Whether there are too many claims to load them all cheaply. */
    boolean isCrowd() {
        return count + waiters > FEW;
    }

    /**
     * Only some claims have been loaded: there is no state then, and no rule of {@link NameState} can be applied.
     *
     * @param now a time at which the row was locked already
     */
    void loadedInPart(long now) {
        time = new StoreTime(incarnation, now);
        isPart = true;
    }

    boolean isPart() {
        return isPart;
    }

    /**
     * Renews a hold of a name that is loaded in part, by what its own row says. That is enough as long as the hold has
     * not expired: a renewal depends on no other holder, and waiters deal with overdue holders.
     *
     * <p>A row from before the name's row was made (see {@link #loaded}) must not pass for a hold. It was granted earlier, and
     * since then the row's numbers, which began with that time, have only risen. So one that was granted after the time that the
     * next number would be is valid; of another one it cannot be said.
     *
     * @return null when this part does not show it
     */
    Renewal.@Nullable Outcome renewInPart(Renewals.Hold hold) {
        Entry entry = inTable.get(hold.grant().claim().id().toString());
        Held held = entry == null ? null : entry.held();
        long now = time.micros();
        if (entry == null || held == null || held.expires() <= now || held.since() < nextSeq) {
            return null;
        }
        if (held.recalledDelay() != Held.NOT_RECALLED) {
            return new Renewal.Lost(Reason.BROKEN);
        }
        long expires = Math.max(held.expires(), now + NameState.micros(hold.lease()));
        lengthened.computeIfAbsent(expires, e -> new ArrayList<>()).add(entry.id());
        return new Renewal.Kept(Duration.of(expires - now, ChronoUnit.MICROS));
    }

    NameState state() {
        if (state == null) {
            throw new IllegalStateException("not loaded yet");
        }
        return state;
    }

    /** How many waiters have not been loaded. */
    int hidden() {
        return hidden;
    }

    boolean hasHiddenHolders() {
        return state().holders().size() < count;
    }

    /** The sequence number of the next claim. */
    long nextSeq() {
        return nextSeq++;
    }

    /** Lifts the floor of tokens. */
    void raise(long token) {
        floor = Math.max(floor, token);
    }

    /** The row as it should be now; null when that is how it is. */
    @Nullable
    Map<String, @Nullable Object> changedRow() {
        Map<String, @Nullable Object> row = columns();
        if (row.equals(before)) {
            return null;
        }
        row.put("touched", time.micros());
        return row;
    }

    private Map<String, @Nullable Object> columns() {
        List<Held> holders = state().holders();
        Map<String, @Nullable Object> row = new HashMap<>();
        row.putAll(holders.isEmpty() ? ClaimColumns.none() : ClaimColumns.of(holders.get(0)));
        row.put("name", code);
        row.put("holders", holders.size());
        row.put("waiters", state().queue().size() + hidden);
        row.put("closed_until", state().closedUntil());
        row.put("floor", floor);
        row.put("next_seq", nextSeq);
        row.put("strays", strays.toString());
        row.put("strays_until", strays.last());
        return row;
    }

    // ---- Ledger ----

    @Override
    public StoreTime time() {
        return time;
    }

    @Override
    public Tokens draw(int atMost) {
        // A hybrid clock: tokens rise with time, and with each other when time stands still or goes back.
        boolean isBehind = floor < time.micros() + sql.dialect().tick();
        long next = Math.max(time.micros(), floor + 1);
        int drawn = isBehind ? atMost : 1;
        floor = next + drawn - 1;
        return new Tokens(next, drawn);
    }

    @Override
    public void remember(ClaimId id, StoreTime deadline) {
        if (!deadline.isPast(time)) {
            strays.put(id.toString(), deadline.micros());
        }
    }

    @Override
    public boolean remembers(ClaimId id) {
        return strays.contains(id.toString());
    }

    @Override
    public void rememberBroken(ClaimId id, long until) {
        strays.put(broken(id), until);
    }

    @Override
    public boolean remembersBroken(ClaimId id) {
        return strays.contains(broken(id));
    }

    /** A word that is no claim's id. */
    private static String broken(ClaimId id) {
        return "!" + id;
    }

    @Override
    public void tell(Signal signal) {
        signals.add(signal);
    }
}
