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

/** A semaphore of one keeper; what was acquired is passed on to threads that want as much. */
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
        request(1); // refuses bad options now, not at the first use
    }

    private LockRequest request(int permits) {
        Checks.range("permits", permits, 1, limit);
        return keeper.request(name, Mode.PERMITS, permits, limit, options);
    }

    @Override
    public Lease acquire() throws InterruptedException {
        return acquire(1);
    }

    @Override
    public Lease acquire(int permits) throws InterruptedException {
        return Acquisition.acquired(Acquisition.acquire(keeper, request(permits), null, Acquisition.FOREVER, true));
    }

    @Override
    public Optional<Lease> tryAcquire() {
        return tryAcquire(1);
    }

    @Override
    public Optional<Lease> tryAcquire(int permits) {
        return Optional.ofNullable(Acquisition.acquireUninterruptibly(keeper, request(permits), null, 0));
    }

    @Override
    public Optional<Lease> tryAcquire(int permits, Duration wait) throws InterruptedException {
        return Optional.ofNullable(Acquisition.acquire(keeper, request(permits), null, Checks.waitNanos(wait), true));
    }

    @Override
    public CompletableFuture<Lease> acquireAsync(int permits) {
        return Acquisition.future(keeper, request(permits));
    }

    @Override
    public int availablePermits() {
        keeper.ensureOpen();
        Optional<LockInfo> found = keeper.calls().inspect(name);
        if (found.isEmpty()) {
            return limit;
        }
        LockInfo info = found.get();
        if (!info.closedFor().isZero()) {
            return 0;
        }
        if (info.limit() != limit) {
            throw new ConflictingUseException(Printable.quoted(name) + " is in use as "
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
        return "DistributedSemaphore[" + Printable.text(name) + ", " + limit + "]";
    }
}
