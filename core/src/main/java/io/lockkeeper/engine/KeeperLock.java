// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.engine;

import static io.lockkeeper.engine.Acquisition.FOREVER;

import io.lockkeeper.DeadlockException;
import io.lockkeeper.Lease;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Mode;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** A lock on one name of one keeper. Has no state: any two for the same name are interchangeable. */
final class KeeperLock extends AbstractLock {
    private final Keeper keeper;
    private final String name;
    private final Mode mode;
    private final LockRequest request;

    KeeperLock(Keeper keeper, String name, Mode mode, LockOptions options) {
        this.keeper = keeper;
        this.name = name;
        this.mode = mode;
        this.request = keeper.request(name, mode, 1, 0, options);
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

    LockRequest request() {
        return request;
    }

    // ---- Handles ----

    @Override
    public Lease acquire() throws InterruptedException {
        refuseToWaitForMyself();
        return Acquisition.acquired(Acquisition.acquire(keeper, request, null, FOREVER, true));
    }

    @Override
    public Optional<Lease> tryAcquire() {
        return Optional.ofNullable(Acquisition.acquireUninterruptibly(keeper, request, null, 0));
    }

    @Override
    public Optional<Lease> tryAcquire(Duration wait) throws InterruptedException {
        return Optional.ofNullable(Acquisition.acquire(keeper, request, null, Checks.waitNanos(wait), true));
    }

    @Override
    public CompletableFuture<Lease> acquireAsync() {
        return Acquisition.future(keeper, request);
    }

    @Override
    public CompletableFuture<Optional<Lease>> tryAcquireAsync(Duration wait) {
        return Acquisition.future(keeper, request, Checks.waitNanos(wait));
    }

    void refuseToWaitForMyself() {
        ThreadHold mine = keeper.threadHolds().of(name);
        if (mine != null && mine.conflictsWith(mode)) {
            throw new DeadlockException("this thread holds " + Printable.quoted(name)
                    + " by lock() and would wait for itself: handles never re-enter");
        }
    }

    // ---- java.util.concurrent ----

    @Override
    public void lock() {
        if (!reenter()) {
            hold(Acquisition.acquired(
                    Acquisition.acquireUninterruptibly(keeper, request, Thread.currentThread(), FOREVER)));
        }
    }

    @Override
    public void lockInterruptibly() throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        if (!reenter()) {
            hold(Acquisition.acquired(Acquisition.acquire(keeper, request, Thread.currentThread(), FOREVER, true)));
        }
    }

    @Override
    public boolean tryLock() {
        if (wouldUpgrade()) {
            return false;
        }
        return reenter() || hold(Acquisition.acquireUninterruptibly(keeper, request, Thread.currentThread(), 0));
    }

    @Override
    boolean tryLock(long waitNanos) throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        if (wouldUpgrade()) {
            return false;
        }
        return reenter() || hold(Acquisition.acquire(keeper, request, Thread.currentThread(), waitNanos, true));
    }

    /** Whether this thread reads the name and would wait for itself to write it. */
    boolean wouldUpgrade() {
        ThreadHold mine = keeper.threadHolds().of(name);
        return mine != null && mine.wouldUpgrade(mode);
    }

    /** Enters once more if this thread holds the name; false if it does not. */
    boolean reenter() {
        ThreadHold mine = keeper.threadHolds().of(name);
        if (mine == null || mine.mayBeForgotten()) {
            return false; // what is acquired then takes its place
        }
        mine.reenter(mode);
        return true;
    }

    /**
     * Insists that what this thread holds has not been lost.
     *
     * @throws io.lockkeeper.LeaseLostException when it has
     */
    void ensureHeld() {
        ThreadHold mine = keeper.threadHolds().of(name);
        if (mine != null) {
            mine.ensureValid();
        }
    }

    /** What this thread holds is part of a lock on several, and unlocked together with the others. */
    void holdAsPart() {
        ThreadHold mine = keeper.threadHolds().of(name);
        if (mine != null) {
            mine.becomePart();
        }
    }

    /** Notes what this thread has acquired; false when that is nothing. */
    boolean hold(@Nullable LeaseHandle handle) {
        if (handle == null) {
            return false;
        }
        ThreadHolds all = keeper.threadHolds();
        ThreadHold mine = new ThreadHold(name, handle);
        all.put(mine);
        if (!request.settings().renewed()) {
            handle.possession().whenOver(() -> all.isOver(mine));
        }
        return true;
    }

    @Override
    public void unlock() {
        ThreadHolds all = keeper.threadHolds();
        ThreadHold mine = all.of(name);
        if (mine == null) {
            throw new IllegalMonitorStateException("this thread does not hold " + Printable.quoted(name));
        }
        mine.exit(mode, () -> all.remove(mine));
    }

    @Override
    public boolean isHeldByCurrentThread() {
        return holdCount() > 0;
    }

    /** Whether this thread has locked and not unlocked yet, even if the hold was lost. */
    boolean isOwnedByCurrentThread() {
        ThreadHold mine = keeper.threadHolds().of(name);
        return mine != null && mine.entered(mode) > 0;
    }

    @Override
    public int holdCount() {
        ThreadHold mine = keeper.threadHolds().of(name);
        return mine == null ? 0 : mine.count(mode);
    }

    @Override
    public boolean isLocked() {
        keeper.ensureOpen();
        // A writer that reads, too, stands on its write lock: in the store the name is held as written.
        boolean isMine = isHeldByCurrentThread();
        return keeper.calls()
                .inspect(name)
                .filter(info ->
                        (isMine || info.mode() == mode) && !info.holders().isEmpty())
                .isPresent();
    }

    @Override
    public Lease lease() {
        ThreadHold mine = keeper.threadHolds().of(name);
        LeaseHandle lease = mine == null ? null : mine.lease(mode);
        if (lease == null) {
            throw new IllegalMonitorStateException(
                    "this thread does not hold " + Printable.quoted(name) + " by lock()");
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
        return "DistributedLock[" + Printable.text(name) + ", " + mode + "]";
    }
}
