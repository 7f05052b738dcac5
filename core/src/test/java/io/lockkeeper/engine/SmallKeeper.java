// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.engine;

import static org.jetbrains.lincheck.datastructures.ManagedStrategyGuaranteeKt.forClasses;

import io.lockkeeper.LockOptions;
import io.lockkeeper.Mode;
import io.lockkeeper.memory.MemoryCore;
import io.lockkeeper.memory.MemoryStore;
import io.lockkeeper.spi.Ticker;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.StressOptions;
import org.jetbrains.lincheck.util.LoggingLevel;

/**
 * The real engine for Lincheck: one keeper on one memory store, without the timer's thread, so that the threads of the
 * scenario are all there are. Time passes by a tick each time somebody looks at it, so that a timed wait ends by itself
 * whatever the schedule, and the same schedule gives the same again.
 */
final class SmallKeeper {
    static final long TICK = 1_000;

    final MemoryCore core;
    final Keeper keeper;

    /** Time that passes when it is looked at. */
    static final class Ticking implements Ticker {
        private final AtomicLong now = new AtomicLong(1_000_000_000);

        @Override
        public long nanos() {
            return now.addAndGet(TICK);
        }

        @Override
        public void parkUntil(long deadline) {
            if (deadline == Long.MAX_VALUE) {
                LockSupport.park(this);
            } // else: wakes at once, looks at the time, and so it passes
        }
    }

    SmallKeeper() {
        core = MemoryCore.on(new Ticking());
        keeper = new Keeper(
                new MemoryStore(core),
                new Config(
                        "c",
                        LockOptions.defaults(),
                        null,
                        null,
                        Duration.ofSeconds(1),
                        Duration.ofSeconds(10),
                        false,
                        false),
                new Threads("c", task -> {
                    throw new OutOfMemoryError("no other threads here");
                }));
        keeper.timer().close();
    }

    KeeperLock lock(Mode mode) {
        return new KeeperLock(keeper, "x", mode, LockOptions.defaults());
    }

    /** Explores interleavings one by one. The model is one atomic step, as a store's step is. */
    static ModelCheckingOptions modelChecking(int iterations, int invocations) {
        return new ModelCheckingOptions()
                .logLevel(LoggingLevel.ERROR)
                .actorsBefore(0)
                .actorsAfter(0)
                .iterations(iterations)
                .invocationsPerIteration(invocations)
                .addGuarantee(
                        forClasses(SmallKeeper::isOfNoInterest).allMethods().ignore())
                .addGuarantee(forClasses("java.util.concurrent.ConcurrentHashMap")
                        .allMethods()
                        .treatAsAtomic());
    }

    /**
     * What has no state of its own, or whose state is guarded by those who use it: no thread switches inside. Nothing may be
     * called back from there: it would not respect the monitors that Lincheck only pretends to enter.
     */
    private static boolean isOfNoInterest(String name) {
        return name.equals(SmallKeeper.class.getName())
                || name.equals(Ticking.class.getName())
                || (name.startsWith("io.lockkeeper.model.") && !name.startsWith("io.lockkeeper.model.Signal"))
                || name.startsWith("io.lockkeeper.spi.")
                || name.startsWith("java.time.")
                || (name.startsWith("java.util.")
                        && !name.startsWith("java.util.concurrent.")
                        && !name.startsWith("java.util.function."));
    }

    /** Runs the same on real threads. */
    static StressOptions stress(int iterations, int invocations) {
        return new StressOptions()
                .logLevel(LoggingLevel.ERROR)
                .actorsBefore(0)
                .actorsAfter(0)
                .iterations(iterations)
                .invocationsPerIteration(invocations);
    }
}
