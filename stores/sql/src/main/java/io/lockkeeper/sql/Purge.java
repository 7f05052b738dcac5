// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

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
 *
 * <p>Now and then whoever releases has it done, for all clients, on a thread that lives as long as that takes.
 */
final class Purge {
    private static final System.Logger LOG = System.getLogger("io.lockkeeper.sql");
    private static final Duration SHORTEST_IDLE = Duration.ofSeconds(10);

    private final Connections connections;
    private final Sql sql;
    private final long incarnation;
    private final Consumer<List<String>> catchUp;

    /** How long a name stays after its last use: longer than any statement that may still see the old floor. */
    private final Duration idle;

    private final AtomicLong next;

    Purge(Connections connections, Sql sql, long incarnation, int timeoutMillis, Consumer<List<String>> catchUp) {
        this.connections = connections;
        this.sql = sql;
        this.incarnation = incarnation;
        this.catchUp = catchUp;
        Duration statements = Duration.ofMillis(3L * timeoutMillis);
        this.idle = statements.compareTo(SHORTEST_IDLE) > 0 ? statements : SHORTEST_IDLE;
        this.next = new AtomicLong(System.nanoTime() + idle.toNanos());
    }

    void nowAndThen() {
        long now = System.nanoTime();
        long due = next.get();
        if (now - due >= 0 && next.compareAndSet(due, now + idle.toNanos())) {
            Thread thread = new Thread(this::tryIt, "lockkeeper-sql-purge");
            thread.setDaemon(true);
            thread.start();
        }
    }

    private void tryIt() {
        try {
            run(idle);
        } catch (RuntimeException e) {
            LOG.log(System.Logger.Level.DEBUG, "could not forget idle names; the next one may", e);
        }
    }

    /** Does it, unless another client has just done it. */
    void run(Duration since) {
        if (connections.autocommit(c -> sql.execute(c, "purge_turn", times(c, since))) == 0) {
            return;
        }
        List<String> overdue = connections.autocommit(c -> overdue(c, since));
        if (!overdue.isEmpty()) {
            catchUp.accept(overdue);
        }
        connections.transaction(c -> {
            Map<String, Long> times = times(c, since);
            sql.execute(c, "purge_floor", times);
            return sql.execute(c, "purge", times)
                    + sql.execute(c, "purge_claims", times)
                    + sql.execute(c, "purge_latches", times);
        });
    }

    private Map<String, Long> times(Connection connection, Duration since) throws SQLException {
        long now = SqlStore.clock(connection, sql, incarnation).micros();
        return Map.of("now", now, "before", now - NameState.micros(since));
    }

    /** Names whose holders or waiters have vanished and that nobody has asked for since. */
    private List<String> overdue(Connection connection, Duration since) throws SQLException {
        List<String> names = new ArrayList<>();
        try (PreparedStatement s = sql.prepare(connection, "overdue", times(connection, since));
                ResultSet row = s.executeQuery()) {
            while (row.next()) {
                String code = row.getString(1);
                if (NameCode.isCode(code)) { // else it was not written by us
                    names.add(NameCode.decode(code));
                }
            }
        }
        return names;
    }
}
