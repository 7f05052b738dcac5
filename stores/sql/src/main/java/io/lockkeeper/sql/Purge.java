// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import io.lockkeeper.model.NameState;
import io.lockkeeper.spi.NameCodec;
import io.lockkeeper.sql.base.Daemons;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Forgets what nobody uses any more, so that the tables stay as small as what is in use. A name's largest token goes
 * with its row; its next one is greater all the same, because only names whose tokens are less than the clock are
 * forgotten, and the floor of all is raised past them first.
 *
 * <p>Now and then a client that releases starts it, for all clients, on a thread that lives as long as that takes. The
 * tables are gone through in portions of a few hundred rows, in the order of their keys: each is one short statement
 * that finds what is to be forgotten, and a few that forget it, each in its own transaction. So no statement takes
 * long, however many rows there are, and between two portions others can write. What could not be finished is continued
 * the next time.
 */
final class Purge {
    private static final System.Logger LOG = System.getLogger("io.lockkeeper.sql");
    private static final Duration SHORTEST_IDLE = Duration.ofSeconds(10);

    /** How many rows of each table are looked at in one statement. */
    private static final int ROWS_READ = 1_000;

    /** How many are deleted in one: a few milliseconds, and few different texts to prepare. */
    static final int ROWS_WRITTEN = 128;

    /** Names whose rows are locked together; as in a renewal. */
    private static final int NAMES_LOCKED = 64;

    /** Greater than all codes of names. */
    private static final String END = "\u007f";

    private final Connections connections;
    private final Sql sql;
    private final long incarnation;
    private final Consumer<List<String>> catchUp;

    /** How long a name stays after its last use: longer than any statement that may still see the old floor. */
    private final Duration idle;

    private final AtomicLong next;
    private volatile boolean closed;

    /** The last name that was looked at. */
    private String after = "";

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
            begin(Daemons.named("lockkeeper-sql-purge"));
        }
    }

    /** Starts it on its own thread; when no thread can be started now, it is done another time. */
    void begin(ThreadFactory threads) {
        if (Daemons.start(threads, () -> runOrWarn(idle)) == null) {
            LOG.log(System.Logger.Level.DEBUG, "no thread to forget idle names on; it is tried again");
        }
    }

    /** Does it; a failure is logged. */
    void runOrWarn(Duration since) {
        try {
            run(since);
        } catch (RuntimeException | Error e) {
            if (closed) {
                return; // its connections have gone; another client does it
            }
            LOG.log(
                    System.Logger.Level.WARNING,
                    "could not forget idle names, so that the tables grow; it is tried again",
                    e);
        }
    }

    /** Does it, unless another client has just done it, for about as long as it may be until the next time. */
    synchronized void run(Duration since) {
        Map<String, Long> times = connections.autocommit(c -> times(c, since));
        if (connections.autocommit(c -> sql.execute(c, "purge_turn", times)) == 0) {
            return;
        }
        connections.autocommit(c -> sql.execute(c, "purge_floor", times));
        long end = System.nanoTime() + idle.toNanos();
        do {
            long began = System.nanoTime();
            Map<String, Object> portion = new HashMap<>(times);
            portion.put("after", after);
            portion.put("size", ROWS_READ);
            String last = connections.autocommit(c -> last(c, portion));
            portion.put("last", last);
            Work work = connections.autocommit(c -> look(c, portion));
            boolean wrote = write(work, times);
            after = last.equals(END) ? "" : last;
            if (wrote && !after.isEmpty()) {
                LockSupport.parkNanos(System.nanoTime() - began); // others want to write, too
            }
        } while (!closed && !after.isEmpty() && System.nanoTime() - end < 0);
    }

    /** The store is being closed: what is under way may fail from now on. */
    void close() {
        closed = true;
    }

    private Map<String, Long> times(Connection connection, Duration since) throws SQLException {
        long now = SqlStore.clock(connection, sql, incarnation).micros();
        return Map.of("now", now, "before", now - NameState.micros(since));
    }

    /** Where the portion ends. */
    private String last(Connection connection, Map<String, Object> portion) throws SQLException {
        String[] last = {END};
        sql.query(connection, new Sql.Step("purge_window", portion), row -> {
            row.next();
            for (String table : List.of("locks", "claims", "latches")) {
                @Nullable String name = row.getString(table);
                last[0] = name != null && name.compareTo(last[0]) < 0 ? name : last[0];
            }
        });
        return last[0];
    }

    /** What there is to do in a portion. */
    private static final class Work {
        final List<String> idle = new ArrayList<>();
        final List<String> latches = new ArrayList<>();
        final Set<String> claims = new LinkedHashSet<>();
        final Set<String> overdue = new LinkedHashSet<>();
    }

    private Work look(Connection connection, Map<String, Object> portion) throws SQLException {
        Work work = new Work();
        sql.query(connection, new Sql.Step("purge_look", portion), row -> {
            while (row.next()) {
                String code = row.getString("name");
                switch (row.getString("kind")) {
                    case "I" -> work.idle.add(code);
                    case "L" -> work.latches.add(code);
                    case "C" -> {
                        work.claims.add(code);
                        work.overdue.add(code);
                    }
                    default -> work.overdue.add(code);
                }
            }
        });
        return work;
    }

    /** Whether there was anything to do. */
    private boolean write(Work work, Map<String, Long> times) {
        // What was not written by us has no name.
        List<String> names = work.overdue.stream()
                .filter(NameCodec::isCode)
                .map(NameCodec::decode)
                .toList();
        inParts(names, NAMES_LOCKED, catchUp);
        delete("purge_claims", List.copyOf(work.claims), times);
        delete("purge_latches", work.latches, times);
        delete("purge", work.idle, times);
        return work.idle.size() + work.latches.size() + work.claims.size() + names.size() > 0;
    }

    private void delete(String statement, List<String> codes, Map<String, Long> times) {
        inParts(codes, ROWS_WRITTEN, part -> {
            Map<String, Object> values = new HashMap<>(times);
            values.put("names", part);
            connections.lazily(c -> sql.execute(c, statement, values));
        });
    }

    private static <T> void inParts(List<T> all, int size, Consumer<List<T>> step) {
        for (int i = 0; i < all.size(); i += size) {
            step.accept(all.subList(i, Math.min(all.size(), i + size)));
        }
    }
}
