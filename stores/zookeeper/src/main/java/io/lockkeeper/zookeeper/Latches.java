// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.zookeeper;

import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.spi.ClaimId;
import io.lockkeeper.spi.LatchState;
import io.lockkeeper.spi.LatchState.Outcome;
import io.lockkeeper.spi.LatchStep;
import io.lockkeeper.spi.StoreTime;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.jspecify.annotations.Nullable;

/**
 * Latches. A latch is a container that says its count and which steps have changed it of late, and a node below it,
 * which is there while the count is not zero: its end is what waiters watch, and lets the server remove the container
 * if we do not get to it. Its generation is the container's czxid: each setting makes a new one.
 */
final class Latches {
    private static final int ATTEMPTS = 1_000;

    private final ClientState clientState;
    private final RememberedIds<Outcome> done;

    /** The generation that a count-down was first meant for: if that is over, so is the count-down. */
    private final RememberedIds<Long> meant;

    /** Which watches there are, and until when a client wants to be notified. */
    private final Map<Awaiting, Long> watched = new ConcurrentHashMap<>();

    /** A latch as it was read. */
    private record Read(long count, long generation, Map<String, Long> steps, int version, boolean exists) {
        static final Read NONE = new Read(0, 0, Map.of(), 0, false);
    }

    /**
     * Notifies a client when a latch opens; equal ones count as one on the connection, no matter how often they are
     * set.
     */
    private record Awaiting(ClientState clientState, String client, String name) implements Watcher {
        @Override
        public void process(WatchedEvent event) {
            if (event.getType() == Event.EventType.NodeDeleted) {
                clientState.tell(client, s -> s.opened(name));
            }
        }
    }

    Latches(ClientState clientState) {
        this.clientState = clientState;
        this.done = new RememberedIds<>(clientState::time);
        this.meant = new RememberedIds<>(clientState::time);
    }

    LatchState step(LatchStep step, Session session) {
        String path = clientState.layout.latch(step.name());
        if (step instanceof LatchStep.Set set) {
            return change(step, set.id(), set.deadline(), path, session);
        } else if (step instanceof LatchStep.CountDown down) {
            return change(step, down.id(), down.deadline(), path, session);
        }
        session.await(session.sync(), "latch");
        return step instanceof LatchStep.Watch watch
                ? watch(watch, path, session)
                : state(read(path, session), Outcome.DONE);
    }

    // ---- Watches ----

    private LatchState watch(LatchStep.Watch step, String path, Session session) {
        Awaiting awaiting = new Awaiting(clientState, step.client(), step.name());
        long until = clientState.ticker.nanos() + step.interest().toNanos();
        watched.put(awaiting, until);
        session.await(session.exists(path + "/x", awaiting), "latch");
        Read latch = read(path, session);
        if (latch.count == 0) {
            watched.remove(awaiting); // nobody awaits an open latch
            unwatch(step.name(), session);
        } else {
            clientState.wakeBy(until);
        }
        return state(latch, Outcome.DONE);
    }

    /** Removes watches that nobody has asked for again in time; answers when the next is to be removed. */
    long unwatchDue(long now, @Nullable Session session) {
        long next = Long.MAX_VALUE;
        for (Map.Entry<Awaiting, Long> each : List.copyOf(watched.entrySet())) {
            long until = each.getValue();
            if (until > now) {
                next = Math.min(next, until);
            } else if (watched.remove(each.getKey(), until) && session != null) {
                unwatch(each.getKey().name(), session);
            }
        }
        return next;
    }

    /** Makes the server forget one of our watches, unless another client on this connection still awaits the latch. */
    private void unwatch(String name, Session session) {
        if (watched.keySet().stream().noneMatch(other -> other.name().equals(name))) {
            session.unwatch(clientState.layout.latch(name) + "/x");
        }
    }

    private LatchState state(Read latch, Outcome outcome) {
        return new LatchState(latch.count, latch.count == 0 ? 0 : latch.generation, outcome, clientState.time());
    }

    private LatchState change(LatchStep step, ClaimId id, StoreTime deadline, String path, Session session) {
        session.settleFence();
        for (int i = 0; i < ATTEMPTS; i++) {
            Outcome known = done.of(id).orElse(null);
            boolean isLate = known == null && deadline.isPast(clientState.time());
            if (known != null || isLate) {
                session.await(session.sync(), "latch");
                return state(read(path, session), known == null ? Outcome.LATE : known);
            }
            Read latch = read(path, session);
            if (latch.steps.containsKey(id.toString())) {
                return settled(id, deadline, latch, Outcome.DONE); // by a copy whose answer was lost
            }
            if (step instanceof LatchStep.CountDown && meant.of(id).orElse(latch.generation) != latch.generation) {
                return settled(id, deadline, latch, Outcome.DONE);
            }
            Read changed = changed(step, latch);
            if (changed == null) {
                // What we saw must be true now, and not only on a server that lags.
                session.await(session.sync(), "latch");
                Read again = read(path, session);
                if (again.version == latch.version && again.generation == latch.generation) {
                    return settled(
                            id, deadline, latch, step instanceof LatchStep.Set ? Outcome.UNCHANGED : Outcome.DONE);
                }
                continue;
            }
            Reply reply = write(step, id, deadline, path, latch, changed, session);
            if (reply.isOk()) {
                long generation = latch.count == 0
                        ? reply.stat(reply.results().size() - 1).getCzxid()
                        : latch.generation;
                return settled(id, deadline, new Read(changed.count, generation, Map.of(), 0, true), Outcome.DONE);
            }
            putRight(reply, path, session);
            LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(1_000, 200_000L * Math.min(10, i + 1)));
        }
        throw new StoreUnavailableException("the latch changed too often", null);
    }

    private LatchState settled(ClaimId id, StoreTime deadline, Read latch, Outcome outcome) {
        done.keep(id, outcome, deadline);
        return state(latch, outcome);
    }

    /** The latch after the step; null when that changes nothing. */
    private static @Nullable Read changed(LatchStep step, Read latch) {
        if (step instanceof LatchStep.Set set) {
            return latch.count > 0 ? null : new Read(set.count(), 0, Map.of(), 0, false);
        }
        return latch.count == 0 ? null : new Read(latch.count - 1, latch.generation, latch.steps, 0, true);
    }

    private Reply write(
            LatchStep step, ClaimId id, StoreTime deadline, String path, Read latch, Read changed, Session session) {
        long now = session.leaderTime().now(clientState.ticker.nanos());
        Map<String, Long> steps = new LinkedHashMap<>(changed.steps);
        steps.values().removeIf(until -> until < now);
        steps.put(
                id.toString(),
                now + Math.max(0, deadline.micros() - clientState.time().micros()) / 1_000 + 1);
        byte[] data = bytes(changed.count, steps);
        List<Op> ops = new ArrayList<>();
        ops.add(session.checkFence());
        if (step instanceof LatchStep.Set) {
            if (latch.exists) {
                ops.add(Op.delete(path, latch.version));
            }
            ops.add(Op.create(path, data, session.acl(), CreateMode.CONTAINER));
            ops.add(Op.create(path + "/x", new byte[0], session.acl(), CreateMode.PERSISTENT));
            ops.add(Op.setData(path, data, -1));
        } else {
            if (changed.count == 0) {
                ops.add(Op.delete(path + "/x", -1));
            }
            ops.add(Op.setData(path, data, latch.version));
        }
        Reply reply;
        try {
            reply = session.await(session.multi(ops), "latch");
        } catch (StoreUnavailableException e) {
            meant.keep(id, latch.generation, deadline);
            throw e;
        }
        if (reply.isOk() && changed.count == 0) {
            // Nobody counts it down any more; a copy of this very step would find its id in what we remember.
            session.delete(path, reply.stat(ops.size() - 1).getVersion());
        }
        return reply;
    }

    private static void putRight(Reply reply, String path, Session session) {
        if (reply.is(Code.BADVERSION) && reply.failed() == 0) {
            session.readFence();
        } else if (reply.is(Code.NONODE)) {
            if (reply.failed() == 0) {
                session.end();
                throw new StoreUnavailableException("the session has expired", null);
            }
            session.mkdirs(Layout.parent(path));
        }
    }

    private static byte[] bytes(long count, Map<String, Long> steps) {
        StringBuilder text = new StringBuilder(NodeData.VERSION).append(' ').append(count);
        steps.forEach((id, until) -> text.append('\n').append(until).append(' ').append(id));
        return text.toString().getBytes(StandardCharsets.UTF_8);
    }

    private static Read read(String path, Session session) {
        Reply reply = session.await(session.read(path, null), "latch");
        if (!reply.isOk()) {
            return Read.NONE;
        }
        String[] lines = reply.text().split("\n");
        String[] first = lines[0].split(" ");
        if (!first[0].equals(NodeData.VERSION)) {
            throw StoreUnavailableException.lasting("a latch here has format '" + first[0] + "'", null);
        }
        Map<String, Long> steps = new LinkedHashMap<>();
        for (int i = 1; i < lines.length; i++) {
            int space = lines[i].indexOf(' ');
            steps.put(lines[i].substring(space + 1), Long.parseLong(lines[i], 0, space, 10));
        }
        return new Read(
                Long.parseLong(first[1]),
                reply.theStat().getCzxid(),
                steps,
                reply.theStat().getVersion(),
                true);
    }
}
