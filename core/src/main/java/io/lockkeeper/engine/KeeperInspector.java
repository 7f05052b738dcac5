// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.engine;

import io.lockkeeper.Inspector;
import io.lockkeeper.LockInfo;
import io.lockkeeper.Sequencer;
import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.spi.LockStore;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;

/** Asks the store. */
final class KeeperInspector implements Inspector {
    private static final int MOST = 10_000;

    /** A watch that sees changes rests for this long. */
    private static final long SHORTEST_REST = 250_000_000;

    /** A watch rests for a quarter of the time in which nothing has changed, but no longer than this. */
    private static final long LONGEST_REST = 2_000_000_000;

    private static final int SHARE_OF_QUIET = 4;

    private final Keeper keeper;
    private final LockStore store;

    KeeperInspector(Keeper keeper) {
        this.keeper = keeper;
        this.store = keeper.store();
    }

    @Override
    public List<LockInfo> list(String prefix, int limit) {
        Objects.requireNonNull(prefix, "prefix");
        Checks.range("limit", limit, 1, MOST);
        keeper.ensureOpen();
        return keeper.calls().ask(keeper.calls().wholeStore(), () -> store.list(prefix, limit));
    }

    @Override
    public Optional<LockInfo> inspect(String name) {
        Objects.requireNonNull(name, "name");
        Names.check(name);
        keeper.ensureOpen();
        return keeper.calls().inspect(name);
    }

    @Override
    public boolean check(Sequencer sequencer) {
        Objects.requireNonNull(sequencer, "sequencer");
        Names.check(sequencer.name());
        keeper.ensureOpen();
        return keeper.calls().ask(keeper.calls().lane(sequencer.name()), () -> store.check(sequencer));
    }

    @Override
    public boolean breakHold(String name, long token, Duration lockDelay) {
        return breakHold(name, token, lockDelay, false);
    }

    @Override
    public boolean breakHoldNow(String name, long token, Duration lockDelay) {
        return breakHold(name, token, lockDelay, true);
    }

    private boolean breakHold(String name, long token, Duration lockDelay, boolean now) {
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(lockDelay, "lockDelay");
        Names.check(name);
        Checks.range("token", token, 1, Long.MAX_VALUE);
        Checks.lockDelay(lockDelay);
        keeper.ensureOpen();
        return keeper.calls().breakHold(name, token, lockDelay, now);
    }

    @Override
    public AutoCloseable watch(String prefix, Consumer<LockInfo> onChange) {
        Objects.requireNonNull(onChange, "onChange");
        Watch watch = new Watch(prefix, onChange);
        watch.seen = byName(list(prefix, MOST));
        keeper.closeWithMe(watch);
        watch.rest();
        return watch;
    }

    private static Map<String, LockInfo> byName(List<LockInfo> all) {
        Map<String, LockInfo> map = new HashMap<>();
        all.forEach(info -> map.put(info.name(), info));
        return map;
    }

    /**
     * Looks again and again and tells the differences. No store is asked to push these: they are for people, few watch, and
     * a listing costs one step. While nothing changes it looks less often.
     */
    private final class Watch implements AutoCloseable, Keeper.Child {
        private final Lane lane = keeper.calls().wholeStore();
        private final String prefix;
        private final Consumer<LockInfo> onChange;
        private final ArrayDeque<LockInfo> untold = new ArrayDeque<>(2);
        private Map<String, LockInfo> seen = Map.of();
        private long changed = keeper.ticker().nanos();
        private volatile boolean closed;

        Watch(String prefix, Consumer<LockInfo> onChange) {
            this.prefix = prefix;
            this.onChange = onChange;
        }

        void rest() {
            long now = keeper.ticker().nanos();
            long rest = Math.max(SHORTEST_REST, Math.min(LONGEST_REST, (now - changed) / SHARE_OF_QUIET));
            keeper.timer().schedule(now + rest, () -> {
                if (!closed) {
                    lane.steps.execute(this::look);
                }
            });
        }

        private void look() {
            if (closed) {
                return;
            }
            try {
                Map<String, LockInfo> found = byName(keeper.calls().askOnce(lane, () -> store.list(prefix, MOST)));
                for (LockInfo info : found.values()) {
                    LockInfo before = seen.get(info.name());
                    if (before == null || !sameUse(before, info)) {
                        tell(info);
                    }
                }
                for (LockInfo before : seen.values()) {
                    if (!found.containsKey(before.name())) {
                        tell(new LockInfo(before.name(), before.mode(), before.limit(), List.of(), 0, Duration.ZERO));
                    }
                }
                seen = found;
            } catch (StoreUnavailableException e) {
                // The listener hears of it as storeDown; the watch goes on from what it saw last.
            } catch (Throwable e) {
                Log.warning("a watch could not look; it goes on from what it saw last", e);
            }
            rest();
        }

        /** One after the other, in the order in which they were seen. */
        private void tell(LockInfo info) {
            changed = keeper.ticker().nanos();
            synchronized (untold) {
                untold.addLast(info);
                if (untold.size() > 1) {
                    return; // the thread that reports the first one reports this one, too
                }
            }
            keeper.events().run(this::tellNext);
        }

        private void tellNext() {
            LockInfo info;
            synchronized (untold) {
                info = untold.getFirst();
            }
            try {
                if (!closed) {
                    onChange.accept(info);
                }
            } finally {
                boolean goesOn;
                synchronized (untold) {
                    untold.removeFirst();
                    goesOn = !untold.isEmpty();
                }
                if (goesOn) {
                    keeper.events().run(this::tellNext);
                }
            }
        }

        private boolean sameUse(LockInfo a, LockInfo b) {
            return a.mode() == b.mode()
                    && a.limit() == b.limit()
                    && a.waiters() == b.waiters()
                    && a.closedFor().isZero() == b.closedFor().isZero()
                    && tokens(a).equals(tokens(b));
        }

        private List<Long> tokens(LockInfo info) {
            return info.holders().stream().map(LockInfo.Hold::token).sorted().toList();
        }

        @Override
        public void close() {
            stop();
        }

        @Override
        public void stop() {
            closed = true;
            keeper.forgetChild(this);
        }
    }
}
