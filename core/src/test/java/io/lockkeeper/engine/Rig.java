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
        this.core = core;
        this.keeper = new Keeper(
                store,
                new Config(
                        "rig",
                        LockOptions.defaults(),
                        listener,
                        null,
                        Duration.ofSeconds(1),
                        Duration.ofSeconds(10),
                        false,
                        false));
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

    /** Nothing is left of all that was done: no hold, no queue, no claim, here or in the store. */
    void assertNothingIsLeft() throws Exception {
        assertNothingIsLeftHere();
        await("nothing is left in the store", () -> core.size() == 0);
    }

    void assertNothingIsLeftHere() throws Exception {
        await("no hold is left in the renewer", () -> keeper.renewer().holds().isEmpty());
        await("no claim is left in the renewer", () -> keeper.renewer().queued().isEmpty());
        await("no local queue is left", () -> map("queues").isEmpty());
        await("no pending claim is left", () -> map("pending").isEmpty());
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
