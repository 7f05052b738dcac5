// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.model.NameState;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

/**
 * Forgets what nobody uses any more, so that the tables stay as small as what is in use. A name's largest token goes with its
 * row; its next one is greater all the same, because only names whose tokens are behind the clock are forgotten, and the floor
 * of all is raised past them first, in the same transaction.
 */
final class Purge {
    /** How long a name stays after its last use: longer than any statement that may still see the old floor. */
    private static final Duration IDLE = Duration.ofSeconds(10);

    private final Connections connections;
    private final Sql sql;
    private final long incarnation;
    private final Consumer<String> catchUp;
    private final AtomicLong next = new AtomicLong(System.nanoTime() + IDLE.toNanos());

    Purge(Connections connections, Sql sql, long incarnation, Consumer<String> catchUp) {
        this.connections = connections;
        this.sql = sql;
        this.incarnation = incarnation;
        this.catchUp = catchUp;
    }

    /** Whoever releases forgets for all, now and then. */
    void nowAndThen() {
        long now = System.nanoTime();
        long due = next.get();
        if (now - due >= 0 && next.compareAndSet(due, now + IDLE.toNanos())) {
            try {
                run(IDLE);
            } catch (StoreUnavailableException e) {
                // It is not why we are here; the next one may succeed.
            }
        }
    }

    void run(Duration idle) {
        for (String name : connections.autocommit(c -> overdue(c, idle))) {
            catchUp.accept(name);
        }
        connections.transaction(c -> {
            long now = SqlStore.clock(c, sql, incarnation).micros();
            Map<String, Long> times = Map.of("now", now, "before", now - NameState.micros(idle));
            if (sql.execute(c, "purge_turn", times) == 0) {
                return 0; // another client has just done it
            }
            return sql.execute(c, "purge", times) + sql.execute(c, "purge_latches", times);
        });
    }

    /** Names whose holders or waiters have vanished and that nobody has asked for since. */
    private List<String> overdue(Connection connection, Duration idle) throws SQLException {
        long before = SqlStore.clock(connection, sql, incarnation).micros() - NameState.micros(idle);
        List<String> names = new ArrayList<>();
        try (PreparedStatement s = sql.prepare(connection, "overdue", Map.of("before", before));
                ResultSet row = s.executeQuery()) {
            while (row.next()) {
                names.add(NameCode.decode(row.getString(1)));
            }
        }
        return names;
    }
}
