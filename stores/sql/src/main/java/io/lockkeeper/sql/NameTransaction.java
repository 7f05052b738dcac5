// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import io.lockkeeper.model.Held;
import io.lockkeeper.model.Ledger;
import io.lockkeeper.model.NameState;
import io.lockkeeper.model.Signal;
import io.lockkeeper.model.Waiting;
import io.lockkeeper.spi.ClaimId;
import io.lockkeeper.spi.NameCodec;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The general case, for everything that the one-statement cases do not cover: lock the rows of one or several names,
 * load holders and waiters, apply the rule of {@link NameState}, write back what has changed. The rows are locked
 * first, in the order of their names, and every decision depends on them, so that two of these neither see each other
 * half done nor wait for each other.
 */
final class NameTransaction {
    /** Columns that are written to many claims at once. */
    private static final Set<String> RENEWED = Set.of("until", "expires", "confirmed");

    /** How many claims of a name are named in one statement. */
    private static final int SOME = 256;

    /** No name's code. */
    private static final String NO_NAME = "";

    private final Connection connection;
    private final Sql sql;
    private final long incarnation;
    private final Map<String, LoadedName> names = new LinkedHashMap<>();
    private final List<Sql.Step> writes = new ArrayList<>();
    private long now;

    /** A rule of a name. */
    interface Rule<R> {
        R apply(NameState state, Ledger ledger);
    }

    /** A rule of several names. */
    interface RuleOfMany<R> {
        R apply(LoadedName name);
    }

    /**
     * What a rule led to.
     *
     * @param writes what is still to be executed, in order, with which the transaction ends
     */
    record Result<R>(R answer, List<Signal> signals, List<Sql.Step> writes) {}

    private NameTransaction(Connection connection, Sql sql, long incarnation) {
        this.connection = connection;
        this.sql = sql;
        this.incarnation = incarnation;
    }

    static <R> Result<R> run(Connection connection, Sql sql, long incarnation, String name, Rule<R> rule)
            throws SQLException {
        NameTransaction transaction = new NameTransaction(connection, sql, incarnation);
        LoadedName loaded = transaction.load(name, null);
        return transaction.finish(rule.apply(loaded.state(), loaded));
    }

    /**
     * The same for a rule that concerns this claim and otherwise only the head of the queue: of a long queue, only the head is
     * loaded, unless it turns out that more is needed.
     */
    static <R> Result<R> runOnHead(
            Connection connection, Sql sql, long incarnation, String name, ClaimId claim, Rule<R> rule)
            throws SQLException {
        NameTransaction transaction = new NameTransaction(connection, sql, incarnation);
        LoadedName loaded = transaction.load(name, claim);
        if (loaded.hasHiddenHolders() || (loaded.hidden() > 0 && needsAll(loaded))) {
            return run(connection, sql, incarnation, name, rule);
        }
        R answer = rule.apply(loaded.state(), loaded);
        if (loaded.hidden() > 0 && loaded.state().queue().isEmpty()) {
            return run(connection, sql, incarnation, name, rule);
        }
        return transaction.finish(answer);
    }

    /**
     * Applies a rule to each of these names; what it led to is by name. Names without a row, and with one of a newer format,
     * are left out.
     *
     * @param skip whether names whose rows others have locked are left out, too, rather than waited for
     */
    static <R> Result<Map<String, R>> runAll(
            Connection connection,
            Sql sql,
            long incarnation,
            Collection<String> which,
            boolean skip,
            RuleOfMany<R> rule)
            throws SQLException {
        return runAll(connection, sql, incarnation, which, skip, Map.of(), rule);
    }

    /**
     * The same.
     *
     * @param parts the ids of claims, by name, that are enough for the rule; of these names, those with many claims are {@link
     *     LoadedName#isPart loaded in part}
     */
    static <R> Result<Map<String, R>> runAll(
            Connection connection,
            Sql sql,
            long incarnation,
            Collection<String> which,
            boolean skip,
            Map<String, List<String>> parts,
            RuleOfMany<R> rule)
            throws SQLException {
        NameTransaction transaction = new NameTransaction(connection, sql, incarnation);
        List<String> codes = which.stream().map(NameCodec::encode).toList();
        transaction.lockAll(skip ? "lock_skip" : "lock_rows", codes, parts);
        Map<String, R> answers = new HashMap<>();
        for (LoadedName loaded : transaction.names.values()) {
            answers.put(loaded.name, rule.apply(loaded));
        }
        return transaction.finish(answers);
    }

    /** Whether nothing of the queue is loaded, or a holder that expired may take others with it, wherever they are in it. */
    private static boolean needsAll(LoadedName loaded) {
        long now = loaded.time().micros();
        return loaded.state().queue().isEmpty()
                || loaded.state().holders().stream().anyMatch(held -> held.expires() <= now);
    }

    // ---- Loading ----

    private LoadedName load(String name, @Nullable ClaimId only) throws SQLException {
        List<String> code = List.of(NameCodec.encode(name));
        lock("lock_rows", code, only, true);
        if (names.isEmpty()) {
            // Committed by itself: on MariaDB, two transactions that insert and then lock would deadlock.
            sql.execute(connection, "ensure", Map.of("name", code.get(0)));
            connection.commit();
            lock("lock_rows", code, only, true);
        }
        for (LoadedName loaded : names.values()) {
            return loaded;
        }
        throw new SQLException("the row of '" + code.get(0) + "' has vanished", Failures.VANISHED);
    }

    /**
     * Locks and loads these names.
     *
     * @param only all that is needed beside holders and the head of the queue; null for all
     * @param strict whether a newer format, or a row that cannot be read, is an error; otherwise that name is left out
     */
    private void lock(String statement, List<String> codes, @Nullable ClaimId only, boolean strict)
            throws SQLException {
        now = 0;
        Sql.Step rows = new Sql.Step(statement, Map.of("names", codes));
        if (sql.dialect().joins()) {
            sql.query(
                    connection, rows, row -> addNames(row, strict), claims(codes, only), row -> addClaims(row, strict));
        } else {
            sql.query(connection, rows, row -> addNames(row, strict));
            List<String> more = names.values().stream()
                    .filter(LoadedName::hasClaims)
                    .map(loaded -> loaded.code)
                    .toList();
            if (!more.isEmpty()) {
                sql.query(connection, claims(more, only), row -> addClaims(row, strict));
            }
        }
        for (LoadedName loaded : names.values()) {
            loaded.loaded(only == null, now);
        }
    }

    /** Locks and loads these names, those with many claims in part where that is enough; what cannot be read is left out. */
    private void lockAll(String statement, List<String> codes, Map<String, List<String>> parts) throws SQLException {
        if (parts.isEmpty()) {
            lock(statement, codes, null, false);
            return;
        }
        now = 0;
        Sql.Step rows = new Sql.Step(statement, Map.of("names", codes));
        if (sql.dialect().joins()) {
            List<String> whole = new ArrayList<>(codes);
            parts.keySet().forEach(name -> whole.remove(NameCodec.encode(name)));
            Map<String, Object> few =
                    Map.of("names", codes, "few", LoadedName.FEW, "whole", whole.isEmpty() ? List.of(NO_NAME) : whole);
            sql.query(
                    connection,
                    rows,
                    row -> addNames(row, false),
                    new Sql.Step("claims_few", few),
                    row -> addClaims(row, false));
        } else {
            sql.query(connection, rows, row -> addNames(row, false));
            List<String> whole = names.values().stream()
                    .filter(loaded -> loaded.hasClaims() && !isInPart(loaded, parts))
                    .map(loaded -> loaded.code)
                    .toList();
            if (!whole.isEmpty()) {
                sql.query(connection, claims(whole, null), row -> addClaims(row, false));
            }
        }
        for (LoadedName loaded : List.copyOf(names.values())) {
            if (isInPart(loaded, parts)) {
                List<String> wanted = parts.getOrDefault(loaded.name, List.of());
                for (int i = 0; i < wanted.size(); i += SOME) {
                    Map<String, Object> some =
                            Map.of("name", loaded.code, "claims", wanted.subList(i, Math.min(wanted.size(), i + SOME)));
                    sql.query(connection, new Sql.Step("claims_some", some), row -> addClaims(row, false));
                }
                loaded.loadedInPart(now);
            } else {
                loaded.loaded(true, now);
            }
        }
    }

    private static boolean isInPart(LoadedName loaded, Map<String, List<String>> parts) {
        return loaded.isCrowd() && parts.containsKey(loaded.name);
    }

    private void addNames(ResultSet row, boolean strict) throws SQLException {
        while (row.next()) {
            if (strict) {
                Format.check(row.getInt("format"));
            } else if (row.getInt("format") > Format.CURRENT) {
                continue;
            }
            String code = row.getString("name");
            try {
                names.put(code, new LoadedName(sql, incarnation, row));
                now = Math.max(now, row.getLong("at"));
            } catch (RuntimeException e) {
                leaveOut(code, strict, e);
            }
        }
    }

    /** A row that cannot be read concerns only the claims that need it. */
    private void leaveOut(String code, boolean strict, RuntimeException why) {
        if (strict) {
            throw sql.damaged().unreadable(code, why);
        }
        sql.damaged().report(code, why);
        names.remove(code);
    }

    private static Sql.Step claims(List<String> codes, @Nullable ClaimId only) {
        return only == null
                ? new Sql.Step("claims", Map.of("names", codes))
                : new Sql.Step("claims_head", Map.of("name", codes.get(0), "claim", only.toString()));
    }

    private void addClaims(ResultSet row, boolean strict) throws SQLException {
        while (row.next()) {
            String code = row.getString("name");
            LoadedName loaded = names.get(code);
            if (loaded != null) {
                try {
                    loaded.addClaim(row);
                } catch (RuntimeException e) {
                    if ("H".equals(row.getString("state"))) {
                        leaveOut(code, strict, e); // it is unknown what it would conflict with
                    } else {
                        sql.damaged().report(code, e);
                    }
                }
            }
        }
    }

    // ---- Writing back ----

    private <R> Result<R> finish(R answer) {
        Map<Map<String, Object>, List<LoadedName.Entry>> renewed = new LinkedHashMap<>();
        List<Signal> signals = new ArrayList<>();
        for (LoadedName loaded : names.values()) {
            if (loaded.isPart()) {
                saveLengthened(loaded);
            } else {
                saveClaims(loaded, renewed);
                signals.addAll(loaded.signals);
            }
        }
        for (Map.Entry<Map<String, Object>, List<LoadedName.Entry>> each : renewed.entrySet()) {
            Map<String, Object> values = new HashMap<>(each.getKey());
            values.put(
                    "names",
                    each.getValue().stream()
                            .map(LoadedName.Entry::code)
                            .distinct()
                            .toList());
            values.put(
                    "claims", each.getValue().stream().map(LoadedName.Entry::id).toList());
            write("claims_renew", values);
        }
        for (LoadedName loaded : names.values()) {
            Map<String, @Nullable Object> row = loaded.isPart() ? null : loaded.changedRow();
            if (row != null) {
                write("lock_update", row);
            }
        }
        return new Result<>(answer, signals, writes);
    }

    private void saveLengthened(LoadedName loaded) {
        loaded.lengthened.forEach((expires, ids) -> {
            for (int i = 0; i < ids.size(); i += SOME) {
                write(
                        "claims_renew",
                        Map.of(
                                "names",
                                List.of(loaded.code),
                                "claims",
                                ids.subList(i, Math.min(ids.size(), i + SOME)),
                                "until",
                                0L,
                                "expires",
                                expires,
                                "confirmed",
                                1));
            }
        });
    }

    private void saveClaims(LoadedName loaded, Map<Map<String, Object>, List<LoadedName.Entry>> renewed) {
        Set<String> gone = new HashSet<>(loaded.inTable.keySet());
        List<Held> holders = loaded.state().holders();
        for (int i = 1; i < holders.size(); i++) {
            save(loaded, ClaimColumns.entry(holders.get(i)), gone, renewed);
        }
        for (Waiting waiting : loaded.state().queue()) {
            save(loaded, ClaimColumns.entry(waiting), gone, renewed);
        }
        if (!gone.isEmpty()) {
            write("claim_delete", Map.of("name", loaded.code, "claims", List.copyOf(gone)));
        }
    }

    private void save(
            LoadedName loaded,
            Map<String, Object> columns,
            Set<String> gone,
            Map<Map<String, Object>, List<LoadedName.Entry>> renewed) {
        String id = (String) columns.get("claim");
        LoadedName.Entry entry = loaded.inTable.get(id);
        if (entry == null) {
            columns.put("name", loaded.code);
            columns.put("seq", loaded.nextSeq());
            write("claim_insert", columns);
            return;
        }
        gone.remove(id);
        if (columns.equals(entry.columns())) {
            return;
        }
        Map<String, Object> to = new HashMap<>(columns);
        to.keySet().retainAll(RENEWED);
        Map<String, Object> old = new HashMap<>(entry.columns());
        old.putAll(to);
        if (columns.equals(old)) {
            renewed.computeIfAbsent(to, t -> new ArrayList<>()).add(entry);
        } else {
            columns.put("name", loaded.code);
            columns.put("seq", entry.seq());
            write("claim_update", columns);
        }
    }

    private void write(String statement, Map<String, ? extends @Nullable Object> values) {
        writes.add(new Sql.Step(statement, values));
    }
}
