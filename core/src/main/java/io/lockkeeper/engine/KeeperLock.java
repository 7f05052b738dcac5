// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.engine;

import io.lockkeeper.DeadlockException;
import io.lockkeeper.Lease;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Mode;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** A lock on one name of one keeper. Has no state of its own: any two for the same name are interchangeable. */
final class KeeperLock extends AbstractLock {
    private static final long FOR_EVER = Long.MAX_VALUE;

    private final Keeper keeper;
    private final String name;
    private final Mode mode;
    private final Want want;

    KeeperLock(Keeper keeper, String name, Mode mode, LockOptions options) {
        this.keeper = keeper;
        this.name = name;
        this.mode = mode;
        this.want = keeper.want(name, mode, 1, 0, options);
    }

    @Override
    public String name() {
        return name;
    }

    Mode mode() {
        return mode;
    }

    Keeper keeper() {
        return keeper;
    }

    // ---- Handles ----

    @Override
    public Lease acquire() throws InterruptedException {
        refuseToWaitForMyself();
        return Keeper.acquired(keeper.acquire(want, null, FOR_EVER, true));
    }

    @Override
    public Optional<Lease> tryAcquire() {
        return Optional.ofNullable(keeper.acquireUninterruptibly(want, null, 0));
    }

    @Override
    public Optional<Lease> tryAcquire(Duration wait) throws InterruptedException {
        return Optional.ofNullable(keeper.acquire(want, null, Checks.waitNanos(wait), true));
    }

    @Override
    public CompletableFuture<Lease> acquireAsync() {
        keeper.ensureOpen();
        return new FutureWaiter<Lease>(keeper, want, FOR_EVER, Keeper::acquired).begin();
    }

    @Override
    public CompletableFuture<Optional<Lease>> tryAcquireAsync(Duration wait) {
        keeper.ensureOpen();
        long nanos = Checks.waitNanos(wait);
        return new FutureWaiter<Optional<Lease>>(keeper, want, nanos, Optional::ofNullable).begin();
    }

    void refuseToWaitForMyself() {
        ThreadHold mine = keeper.threadHolds().get(name);
        if (mine != null && mine.conflictsWith(mode)) {
            throw new DeadlockException(
                    "this thread holds '" + name + "' by lock() and would wait for itself: handles never re-enter");
        }
    }

    // ---- java.util.concurrent ----

    @Override
    public void lock() {
        if (!reenter()) {
            hold(Keeper.acquired(keeper.acquireUninterruptibly(want, Thread.currentThread(), FOR_EVER)));
        }
    }

    @Override
    public void lockInterruptibly() throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        if (!reenter()) {
            hold(Keeper.acquired(keeper.acquire(want, Thread.currentThread(), FOR_EVER, true)));
        }
    }

    @Override
    public boolean tryLock() {
        return reenter() || hold(keeper.acquireUninterruptibly(want, Thread.currentThread(), 0));
    }

    @Override
    boolean tryLock(long waitNanos) throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        return reenter() || hold(keeper.acquire(want, Thread.currentThread(), waitNanos, true));
    }

    private boolean reenter() {
        ThreadHold mine = keeper.threadHolds().get(name);
        if (mine == null) {
            return false;
        }
        mine.reenter(mode);
        return true;
    }

    private boolean hold(@Nullable LeaseHandle handle) {
        if (handle == null) {
            return false;
        }
        keeper.threadHolds().put(name, new ThreadHold(name, handle));
        return true;
    }

    @Override
    public void unlock() {
        Map<String, ThreadHold> all = keeper.threadHolds();
        ThreadHold mine = all.get(name);
        if (mine == null) {
            throw new IllegalMonitorStateException("this thread does not hold '" + name + "'");
        }
        mine.exit(mode, () -> all.remove(name));
    }

    @Override
    public boolean isHeldByCurrentThread() {
        return holdCount() > 0;
    }

    /** Whether this thread has locked and not unlocked yet, be it that it has lost the hold. */
    boolean isOwnedByCurrentThread() {
        ThreadHold mine = keeper.threadHolds().get(name);
        return mine != null && mine.lease(mode) != null;
    }

    @Override
    public int holdCount() {
        ThreadHold mine = keeper.threadHolds().get(name);
        return mine == null ? 0 : mine.count(mode);
    }

    @Override
    public boolean isLocked() {
        keeper.ensureOpen();
        return keeper.steps()
                .inspect(name)
                .filter(info -> info.mode() == mode && !info.holders().isEmpty())
                .isPresent();
    }

    @Override
    public Lease lease() {
        ThreadHold mine = keeper.threadHolds().get(name);
        LeaseHandle lease = mine == null ? null : mine.lease(mode);
        if (lease == null) {
            throw new IllegalMonitorStateException("this thread does not hold '" + name + "' by lock()");
        }
        return lease;
    }

    // ---- Identity ----

    @Override
    public boolean equals(@Nullable Object o) {
        return o instanceof KeeperLock other && keeper == other.keeper && name.equals(other.name) && mode == other.mode;
    }

    @Override
    public int hashCode() {
        return Objects.hash(System.identityHashCode(keeper), name, mode);
    }

    @Override
    public String toString() {
        return "DistributedLock[" + name + ", " + mode + "]";
    }
}
