// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.engine;

import io.lockkeeper.ConflictingUseException;
import io.lockkeeper.DistributedSemaphore;
import io.lockkeeper.Lease;
import io.lockkeeper.LockInfo;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Mode;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** A semaphore of one keeper; each acquisition is a claim of its own. */
final class KeeperSemaphore implements DistributedSemaphore {
    private final Keeper keeper;
    private final String name;
    private final int limit;
    private final LockOptions options;

    KeeperSemaphore(Keeper keeper, String name, int limit, LockOptions options) {
        Checks.range("permits", limit, 1, Integer.MAX_VALUE);
        this.keeper = keeper;
        this.name = name;
        this.limit = limit;
        this.options = options;
        want(1); // refuses bad options now, not at the first use
    }

    private Want want(int permits) {
        Checks.range("permits", permits, 1, limit);
        return keeper.want(name, Mode.PERMITS, permits, limit, options);
    }

    @Override
    public Lease acquire() throws InterruptedException {
        return acquire(1);
    }

    @Override
    public Lease acquire(int permits) throws InterruptedException {
        return Keeper.acquired(keeper.acquire(want(permits), null, Long.MAX_VALUE, true));
    }

    @Override
    public Optional<Lease> tryAcquire() {
        return tryAcquire(1);
    }

    @Override
    public Optional<Lease> tryAcquire(int permits) {
        return Optional.ofNullable(keeper.acquireUninterruptibly(want(permits), null, 0));
    }

    @Override
    public Optional<Lease> tryAcquire(int permits, Duration wait) throws InterruptedException {
        return Optional.ofNullable(keeper.acquire(want(permits), null, Checks.waitNanos(wait), true));
    }

    @Override
    public CompletableFuture<Lease> acquireAsync(int permits) {
        keeper.ensureOpen();
        return new FutureWaiter<Lease>(keeper, want(permits), Long.MAX_VALUE, Keeper::acquired).begin();
    }

    @Override
    public int availablePermits() {
        keeper.ensureOpen();
        Optional<LockInfo> found = keeper.steps().inspect(name);
        if (found.isEmpty()) {
            return limit;
        }
        LockInfo info = found.get();
        if (!info.closedFor().isZero()) {
            return 0;
        }
        if (info.limit() != limit) {
            throw new ConflictingUseException("'" + name + "' is in use as "
                    + (info.mode() == Mode.PERMITS ? "a semaphore of " + info.limit() : "a lock"));
        }
        return limit - info.holders().stream().mapToInt(LockInfo.Hold::permits).sum();
    }

    @Override
    public int limit() {
        return limit;
    }

    @Override
    public String toString() {
        return "DistributedSemaphore[" + name + ", " + limit + "]";
    }
}
