// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.KeeperListener;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Mode;
import io.lockkeeper.memory.MemoryCore;
import io.lockkeeper.memory.MemoryStore;
import io.lockkeeper.spi.LockStore;
import java.lang.reflect.Field;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** A keeper on a memory store, with its insides in view. */
final class Rig implements AutoCloseable {
    final MemoryCore core;
    final Keeper keeper;

    Rig() {
        this(MemoryCore.system(), null);
    }

    Rig(MemoryCore core, @Nullable KeeperListener listener) {
        this(core, new MemoryStore(core), listener);
    }

    Rig(MemoryCore core, LockStore store, @Nullable KeeperListener listener) {
        this(core, store, config(listener, null, Duration.ofSeconds(1), false));
    }

    /** On a store that is closed with the keeper, if that is wanted, and whose steps may take that long. */
    Rig(MemoryCore core, LockStore store, Duration operationTimeout, boolean closesStore) {
        this(core, store, config(null, null, operationTimeout, closesStore));
    }

    /** With an executor for the user's code. */
    Rig(Executor executor) {
        this(MemoryCore.system(), executor, Duration.ofSeconds(1));
    }

    private Rig(MemoryCore core, Executor executor, Duration operationTimeout) {
        this(core, new MemoryStore(core), config(null, executor, operationTimeout, false));
    }

    private Rig(MemoryCore core, LockStore store, Config config) {
        this.core = core;
        this.keeper = new Keeper(store, config);
    }

    private static Config config(
            @Nullable KeeperListener listener, @Nullable Executor executor, Duration timeout, boolean closesStore) {
        return new Config(
                "rig", LockOptions.defaults(), listener, executor, timeout, Duration.ofSeconds(10), closesStore, false);
    }

    KeeperLock lock(String name) {
        return new KeeperLock(keeper, name, Mode.EXCLUSIVE, LockOptions.defaults());
    }

    KeeperLock lock(String name, LockOptions options) {
        return new KeeperLock(keeper, name, Mode.EXCLUSIVE, options);
    }

    KeeperLock readLock(String name) {
        return new KeeperLock(keeper, name, Mode.SHARED, LockOptions.defaults());
    }

    /** The only hold that there is. */
    Hold hold() {
        return keeper.claims().all().iterator().next().hold;
    }

    /** Nothing is left of all that was done: no hold, no queue, no claim, here or in the store. */
    void assertNothingIsLeft() throws Exception {
        assertNothingIsLeftHere();
        await("nothing is left in the store", () -> core.size() == 0);
    }

    void assertNothingIsLeftHere() throws Exception {
        await("no claim is left", () -> keeper.claims().all().isEmpty());
        await("no local queue is left", () -> map("queues").isEmpty());
    }

    private Map<?, ?> map(String field) {
        try {
            Field f = Keeper.class.getDeclaredField(field);
            f.setAccessible(true);
            return (Map<?, ?>) f.get(keeper);
        } catch (ReflectiveOperationException e) {
            throw new LinkageError("the keeper has no such field", e);
        }
    }

    static void await(String what, BooleanSupplier condition) throws InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(Race.LONG_SECONDS);
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime()).as("in time: " + what).isLessThan(deadline);
            TimeUnit.MILLISECONDS.sleep(1);
        }
    }

    @Override
    public void close() {
        keeper.close();
    }
}
