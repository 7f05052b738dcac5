// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import io.lockkeeper.model.Held;
import io.lockkeeper.model.Ledger;
import io.lockkeeper.model.NameState;
import io.lockkeeper.model.Signal;
import io.lockkeeper.model.Waiting;
import io.lockkeeper.spi.ClaimId;
import io.lockkeeper.spi.StoreTime;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The general way, for whatever the one-statement ways do not cover: lock the name's row, load who holds and who waits, apply
 * the rule of {@link NameState}, write back what has changed. The row is locked first and every decision depends on it, so
 * that two of these never see each other half done.
 */
final class NameTransaction implements Ledger {
    private final Connection connection;
    private final Sql sql;
    private final String name;
    private final String code;
    private final List<Signal> signals = new ArrayList<>();
    private final Map<String, Object> before = new HashMap<>();
    private final Map<String, Long> seqs = new HashMap<>();
    private final Set<String> inTable = new HashSet<>();
    private StoreTime time = new StoreTime(0, 0);
    private Deadlines strays = Deadlines.parse("", 0);
    private long floor;
    private long nextSeq;
    private int hidden;
    private boolean hasHiddenHolders;
    private Map<String, @Nullable Object> rowBefore = Map.of();

    /** A rule of a name. */
    interface Rule<R> {
        R apply(NameState state, Ledger ledger);
    }

    /** What a rule led to. */
    record Result<R>(R answer, List<Signal> signals) {}

    private NameTransaction(Connection connection, Sql sql, String name) {
        this.connection = connection;
        this.sql = sql;
        this.name = name;
        this.code = NameCode.encode(name);
    }

    static <R> Result<R> run(Connection connection, Sql sql, long incarnation, String name, Rule<R> rule)
            throws SQLException {
        NameTransaction transaction = new NameTransaction(connection, sql, name);
        NameState state = transaction.load(incarnation, null);
        R answer = rule.apply(state, transaction);
        transaction.save(state);
        return new Result<>(answer, transaction.signals);
    }

    /**
     * The same for a rule that concerns this claim and otherwise only the head of the queue: of a long queue, only the head is
     * loaded, unless it turns out that more is needed.
     */
    static <R> Result<R> runOnHead(
            Connection connection, Sql sql, long incarnation, String name, ClaimId claim, Rule<R> rule)
            throws SQLException {
        NameTransaction transaction = new NameTransaction(connection, sql, name);
        NameState state = transaction.load(incarnation, claim);
        if (transaction.hasHiddenHolders || (transaction.hidden > 0 && transaction.needsAll(state))) {
            return run(connection, sql, incarnation, name, rule);
        }
        R answer = rule.apply(state, transaction);
        if (transaction.hidden > 0 && state.queue().isEmpty()) {
            return run(connection, sql, incarnation, name, rule);
        }
        transaction.save(state);
        return new Result<>(answer, transaction.signals);
    }

    /** Whether nothing of the queue is loaded, or a holder that expired may take others with it, wherever they are in it. */
    private boolean needsAll(NameState state) {
        return state.queue().isEmpty() || state.holders().stream().anyMatch(held -> held.expires() <= time.micros());
    }

    // ---- Ledger ----

    @Override
    public StoreTime time() {
        return time;
    }

    @Override
    public Tokens draw(int atMost) {
        // A hybrid clock: tokens rise with time, and with each other when time stands still or goes back.
        boolean behind = floor < time.micros() + sql.dialect().tick();
        long first = Math.max(time.micros(), floor + 1);
        int count = behind ? atMost : 1;
        floor = first + count - 1;
        return new Tokens(first, count);
    }

    /** Lifts the floor of tokens. */
    void raise(long token) {
        floor = Math.max(floor, token);
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
    public void tell(Signal signal) {
        signals.add(signal);
    }

    // ---- Loading and writing back ----

    private NameState load(long incarnation, @Nullable ClaimId only) throws SQLException {
        NameState state = lock(incarnation, only);
        if (state == null) {
            // Committed by itself: on MariaDB, two who insert and then lock would wait for each other.
            execute("ensure", Map.of("name", code));
            connection.commit();
            state = lock(incarnation, only);
        }
        if (state == null) {
            throw new SQLException("the row of '" + code + "' has vanished", Failures.VANISHED);
        }
        return state;
    }

    private @Nullable NameState lock(long incarnation, @Nullable ClaimId only) throws SQLException {
        int waiters;
        int count;
        boolean more;
        long closedUntil;
        List<Held> holders = new ArrayList<>();
        try (PreparedStatement s = sql.prepare(connection, "lock", Map.of("name", code));
                ResultSet row = s.executeQuery()) {
            if (!row.next()) {
                return null;
            }
            Format.check(row.getInt("format"));
            time = new StoreTime(incarnation, row.getLong("at"));
            nextSeq = row.getLong("next_seq");
            waiters = row.getInt("waiters");
            count = row.getInt("holders");
            more = waiters > 0 || count > 1;
            closedUntil = row.getLong("closed_until");
            floor = row.getLong("floor");
            strays = Deadlines.parse(row.getString("strays"), time.micros());
            if (count > 0) {
                holders.add(ClaimColumns.held(row, name, incarnation));
            }
        }
        List<Waiting> queue = new ArrayList<>();
        if (more) {
            loadClaims(incarnation, only, holders, queue);
            hidden = waiters - queue.size();
            hasHiddenHolders = holders.size() < count;
        }
        NameState state = new NameState(name, holders, queue, closedUntil);
        rowBefore = rowColumns(state);
        return state;
    }

    private void loadClaims(long incarnation, @Nullable ClaimId only, List<Held> holders, List<Waiting> queue)
            throws SQLException {
        String statement = only == null ? "claims" : "claims_head";
        List<String> claims = only == null ? List.of() : List.of(only.toString());
        try (PreparedStatement s = sql.prepare(connection, statement, Map.of("name", code, "claims", claims));
                ResultSet row = s.executeQuery()) {
            while (row.next()) {
                String id = row.getString("claim");
                inTable.add(id);
                seqs.put(id, row.getLong("seq"));
                if (row.getString("state").equals("H")) {
                    Held held = ClaimColumns.held(row, name, incarnation);
                    holders.add(held);
                    before.put(id, heldColumns(held));
                } else {
                    Waiting waiting = ClaimColumns.waiting(row, name, incarnation);
                    queue.add(waiting);
                    before.put(id, waitingColumns(waiting));
                }
            }
        }
    }

    private void save(NameState state) throws SQLException {
        List<Held> holders = state.holders();
        Set<String> gone = new HashSet<>(inTable);
        Map<Object, List<String>> refreshed = new HashMap<>();
        for (int i = 1; i < holders.size(); i++) {
            write(heldColumns(holders.get(i)), gone);
        }
        for (Waiting waiting : state.queue()) {
            Map<String, Object> columns = waitingColumns(waiting);
            String id = waiting.claim().id().toString();
            if (isOnlyRefreshed(id, columns)) {
                gone.remove(id);
                refreshed
                        .computeIfAbsent(columns.get("until"), u -> new ArrayList<>())
                        .add(id);
            } else {
                write(columns, gone);
            }
        }
        for (Map.Entry<Object, List<String>> entry : refreshed.entrySet()) {
            execute("claim_refresh", Map.of("name", code, "until", entry.getKey(), "claims", entry.getValue()));
        }
        if (!gone.isEmpty()) {
            execute("claim_delete", Map.of("name", code, "claims", List.copyOf(gone)));
        }
        Map<String, @Nullable Object> row = rowColumns(state);
        if (!row.equals(rowBefore)) {
            row.put("touched", time.micros());
            execute("lock_update", row);
        }
    }

    private Map<String, @Nullable Object> rowColumns(NameState state) {
        List<Held> holders = state.holders();
        Map<String, @Nullable Object> row = new HashMap<>();
        row.putAll(holders.isEmpty() ? ClaimColumns.none() : ClaimColumns.of(holders.get(0)));
        row.put("name", code);
        row.put("holders", holders.size());
        row.put("waiters", state.queue().size() + hidden);
        row.put("closed_until", state.closedUntil());
        row.put("floor", floor);
        row.put("next_seq", nextSeq);
        row.put("strays", strays.toString());
        row.put("strays_until", strays.last());
        return row;
    }

    private static Map<String, Object> heldColumns(Held held) {
        Map<String, Object> columns = ClaimColumns.of(held);
        columns.put("state", "H");
        columns.put("until", 0L);
        return columns;
    }

    private static Map<String, Object> waitingColumns(Waiting waiting) {
        Map<String, Object> columns = ClaimColumns.of(waiting.claim());
        columns.put("state", "W");
        columns.put("until", waiting.until());
        return columns;
    }

    private boolean isOnlyRefreshed(String id, Map<String, Object> columns) {
        if (!(before.get(id) instanceof Map<?, ?> old) || columns.equals(old)) {
            return false;
        }
        Map<String, Object> same = new HashMap<>(columns);
        same.put("until", old.get("until"));
        return same.equals(old);
    }

    private void write(Map<String, Object> columns, Set<String> gone) throws SQLException {
        String id = (String) columns.get("claim");
        Map<String, Object> row = new HashMap<>(columns);
        row.put("name", code);
        if (gone.remove(id)) {
            if (!columns.equals(before.get(id))) {
                row.put("seq", seqs.get(id));
                execute("claim_update", row);
            }
        } else {
            row.put("seq", nextSeq++);
            execute("claim_insert", row);
        }
    }

    private void execute(String statement, Map<String, ? extends @Nullable Object> values) throws SQLException {
        sql.execute(connection, statement, values);
    }
}
