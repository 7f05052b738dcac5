// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.engine;

import io.lockkeeper.DistributedLatch;
import io.lockkeeper.DistributedLock;
import io.lockkeeper.DistributedReadWriteLock;
import io.lockkeeper.DistributedSemaphore;
import io.lockkeeper.Guarantee;
import io.lockkeeper.Guarantees;
import io.lockkeeper.Inspector;
import io.lockkeeper.LeaderElection;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Mode;
import io.lockkeeper.spi.LockStore;
import java.util.concurrent.atomic.AtomicBoolean;

/** Makes what people see, on one {@link Keeper}: checks the input, before any I/O, and what the store can do. */
public final class Primitives {
    private final Keeper keeper;
    private final Inspector inspector;
    private final AtomicBoolean hasWarned = new AtomicBoolean();

    /** Begins to keep locks in this store. */
    public Primitives(LockStore store, Config config) {
        this.keeper = new Keeper(store, config);
        this.inspector = new KeeperInspector(keeper);
    }

    /** See {@link io.lockkeeper.Lockkeeper#lock(String, LockOptions)}. */
    public DistributedLock lock(String name, LockOptions options) {
        KeeperLock lock = new KeeperLock(keeper, Names.check(name), Mode.EXCLUSIVE, options);
        warnIfUnfair(name, options);
        return lock;
    }

    /** Orders that the store does not keep are not promised in silence. */
    private void warnIfUnfair(String name, LockOptions options) {
        if (options.orElse(keeper.config().defaults()).fair()
                && !guarantees().has(Guarantee.FAIR)
                && hasWarned.compareAndSet(false, true)) {
            Log.warning(
                    "fair(true) is set for " + Printable.quoted(name)
                            + ", but this store does not guarantee FAIR: clients may acquire in any order."
                            + " This is logged once for each keeper",
                    null);
        }
    }

    /** See {@link io.lockkeeper.Lockkeeper#readWriteLock(String, LockOptions)}. */
    public DistributedReadWriteLock readWriteLock(String name, LockOptions options) {
        Names.check(name);
        guarantees().require(Guarantee.SHARED);
        KeeperLock readLock = new KeeperLock(keeper, name, Mode.SHARED, options);
        KeeperLock writeLock = new KeeperLock(keeper, name, Mode.EXCLUSIVE, options);
        warnIfUnfair(name, options);
        return new KeeperReadWriteLock(readLock, writeLock);
    }

    /** See {@link io.lockkeeper.Lockkeeper#semaphore(String, int, LockOptions)}. */
    public DistributedSemaphore semaphore(String name, int permits, LockOptions options) {
        Names.check(name);
        guarantees().require(Guarantee.PERMITS);
        KeeperSemaphore semaphore = new KeeperSemaphore(keeper, name, permits, options);
        warnIfUnfair(name, options);
        return semaphore;
    }

    /** See {@link io.lockkeeper.Lockkeeper#latch(String, LockOptions)}. */
    public DistributedLatch latch(String name, LockOptions options) {
        Names.check(name);
        guarantees().require(Guarantee.LATCH);
        keeper.request(name, Mode.EXCLUSIVE, 1, 0, options); // checks the options
        return new KeeperLatch(keeper, name);
    }

    /** See {@link io.lockkeeper.Lockkeeper#election(String, LockOptions)}. */
    public LeaderElection election(String name, LockOptions options) {
        return new KeeperElection(keeper, Names.check(name), options);
    }

    /** See {@link io.lockkeeper.Lockkeeper#inspector()}. */
    public Inspector inspector() {
        return inspector;
    }

    /** See {@link io.lockkeeper.Lockkeeper#guarantees()}. */
    public Guarantees guarantees() {
        return keeper.store().guarantees();
    }

    /** See {@link io.lockkeeper.Lockkeeper#close()}. */
    public void close() {
        keeper.close();
    }

    /** The store that the locks are kept in. */
    public LockStore store() {
        return keeper.store();
    }

    @Override
    public String toString() {
        return "Lockkeeper[" + Printable.text(keeper.config().clientName()) + " on "
                + keeper.store().getClass().getSimpleName() + (keeper.isClosed() ? ", closed" : "") + "]";
    }
}
