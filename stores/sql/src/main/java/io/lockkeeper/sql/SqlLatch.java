// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import io.lockkeeper.model.NameState;
import io.lockkeeper.model.Signal;
import io.lockkeeper.spi.LatchState;
import io.lockkeeper.spi.LatchState.Outcome;
import io.lockkeeper.spi.LatchStep;
import io.lockkeeper.spi.StoreTime;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

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
        Outcome outcome = Outcome.DONE;
        if (step instanceof LatchStep.Set set) {
            String id = set.id().toString();
            if (done.contains("-" + id)) {
                outcome = Outcome.UNCHANGED;
            } else if (!done.contains(id)) {
                if (set.deadline().isPast(now)) {
                    outcome = Outcome.LATE;
                } else if (count > 0) {
                    outcome = Outcome.UNCHANGED;
                    done.put("-" + id, set.deadline().micros());
                } else {
                    count = set.count();
                    generation = Math.max(generation + 1, now.micros());
                    done.put(id, set.deadline().micros());
                }
            }
        } else if (step instanceof LatchStep.CountDown down) {
            String id = down.id().toString();
            if (!done.contains(id)) {
                if (down.deadline().isPast(now)) {
                    outcome = Outcome.LATE;
                } else {
                    done.put(id, down.deadline().micros());
                    if (count > 0 && --count == 0) {
                        watchers.words().forEach(client -> signals.add(new Signal.Opened(client, step.name())));
                        watchers = Deadlines.parse("", 0);
                    }
                }
            }
        } else if (step instanceof LatchStep.Watch watch && count > 0) {
            watchers.put(watch.client(), now.micros() + NameState.micros(watch.interest()));
        }
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
        return new LatchState(count, count == 0 ? 0 : generation, outcome, now);
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
