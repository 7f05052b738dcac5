// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import io.lockkeeper.model.LatchRules;
import io.lockkeeper.model.Signal;
import io.lockkeeper.spi.ClaimId;
import io.lockkeeper.spi.LatchState;
import io.lockkeeper.spi.LatchState.Outcome;
import io.lockkeeper.spi.LatchStep;
import io.lockkeeper.spi.NameCodec;
import io.lockkeeper.spi.StoreTime;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** A step on a latch, in a transaction that locks its row. The row goes when it is at zero and no id needs to be kept. */
final class SqlLatch {
    private final Connection connection;
    private final Sql sql;
    private final long incarnation;
    private final List<Signal> signals = new ArrayList<>();
    private StoreTime now = new StoreTime(0, 0);
    private long count;
    private long generation;
    private Deadlines done = Deadlines.parse("", 0);
    private Deadlines watchers = Deadlines.parse("", 0);

    private SqlLatch(Connection connection, Sql sql, long incarnation) {
        this.connection = connection;
        this.sql = sql;
        this.incarnation = incarnation;
    }

    static NameTransaction.Result<LatchState> run(Connection connection, Sql sql, long incarnation, LatchStep step)
            throws SQLException {
        SqlLatch latch = new SqlLatch(connection, sql, incarnation);
        return new NameTransaction.Result<>(latch.apply(step), latch.signals, List.of());
    }

    private LatchState apply(LatchStep step) throws SQLException {
        String code = NameCodec.encode(step.name());
        if (!lock(code)) {
            execute("latch_ensure", Map.of("name", code));
            connection.commit(); // as for a name
            if (!lock(code)) {
                throw new SQLException("the row of the latch '" + code + "' has vanished", Failures.VANISHED);
            }
        }
        Outcome outcome = LatchRules.apply(step, new Row(step.name()));
        save(code);
        return new LatchState(count, count == 0 ? 0 : generation, outcome, now);
    }

    private void save(String code) throws SQLException {
        String doneNow = done.toString();
        if (count == 0 && doneNow.isEmpty()) {
            execute("latch_delete", Map.of("name", code));
        } else {
            execute(
                    "latch_update",
                    Map.of(
                            "name",
                            code,
                            "remaining",
                            count,
                            "generation",
                            generation,
                            "done",
                            doneNow,
                            "watchers",
                            watchers.toString(),
                            "keep_until",
                            done.last()));
        }
    }

    /** The latch as its row has it, for the rules. Outcomes are kept by id, with a minus before those that changed nothing. */
    private final class Row implements LatchRules.Latch {
        private final String name;

        Row(String name) {
            this.name = name;
        }

        @Override
        public StoreTime time() {
            return now;
        }

        @Override
        public long count() {
            return count;
        }

        @Override
        public void set(long newCount) {
            count = newCount;
            generation = Math.max(generation + 1, now.micros());
        }

        @Override
        public void countDown() {
            if (--count == 0) {
                watchers.words().forEach(client -> signals.add(new Signal.Opened(client, name)));
                watchers = Deadlines.parse("", 0);
            }
        }

        @Override
        public void watch(String client, long until) {
            watchers.put(client, until);
        }

        @Override
        public Optional<Outcome> outcomeOf(ClaimId id) {
            if (done.contains("-" + id)) {
                return Optional.of(Outcome.UNCHANGED);
            }
            return done.contains(id.toString()) ? Optional.of(Outcome.DONE) : Optional.empty();
        }

        @Override
        public void remember(ClaimId id, StoreTime deadline, Outcome outcome) {
            done.put((outcome == Outcome.UNCHANGED ? "-" : "") + id, deadline.micros());
        }
    }

    private boolean lock(String code) throws SQLException {
        try (PreparedStatement s = sql.prepare(connection, "latch_lock", Map.of("name", code));
                ResultSet row = s.executeQuery()) {
            if (!row.next()) {
                return false;
            }
            Format.check(row.getInt("format"));
            now = new StoreTime(incarnation, row.getLong("at"));
            count = row.getLong("remaining");
            generation = row.getLong("generation");
            done = Deadlines.parse(row.getString("done"), now.micros());
            watchers = Deadlines.parse(row.getString("watchers"), now.micros());
            return true;
        }
    }

    private void execute(String statement, Map<String, ?> values) throws SQLException {
        sql.execute(connection, statement, values);
    }
}
