// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck.rules;

import io.lockkeeper.DistributedLock;
import io.lockkeeper.DistributedReadWriteLock;
import io.lockkeeper.DistributedSemaphore;
import io.lockkeeper.Lease;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.Mode;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** A way to hold a name, so that what holds for every mode can be tested for each of them in the same words. */
interface Way {
    Lease acquire() throws InterruptedException;

    Optional<Lease> tryAcquire();

    Optional<Lease> tryAcquire(Duration wait) throws InterruptedException;

    CompletableFuture<Lease> acquireAsync();

    /** Takes the name so that nobody else gets it. */
    Lease occupy() throws InterruptedException;

    /** By one's own: as a writer, as a reader, or with one permit of two. */
    static Way of(Lockkeeper keeper, String name, Mode mode, LockOptions options) {
        return switch (mode) {
            case EXCLUSIVE -> lock(keeper.lock(name, options), keeper.lock(name, options));
            case SHARED -> {
                DistributedReadWriteLock both = keeper.readWriteLock(name, options);
                yield lock(both.readLock(), both.writeLock());
            }
            case PERMITS -> permits(keeper.semaphore(name, 2, options));
        };
    }

    private static Way lock(DistributedLock lock, DistributedLock exclusive) {
        return new Way() {
            @Override
            public Lease acquire() throws InterruptedException {
                return lock.acquire();
            }

            @Override
            public Optional<Lease> tryAcquire() {
                return lock.tryAcquire();
            }

            @Override
            public Optional<Lease> tryAcquire(Duration wait) throws InterruptedException {
                return lock.tryAcquire(wait);
            }

            @Override
            public CompletableFuture<Lease> acquireAsync() {
                return lock.acquireAsync();
            }

            @Override
            public Lease occupy() throws InterruptedException {
                return exclusive.acquire();
            }
        };
    }

    private static Way permits(DistributedSemaphore semaphore) {
        return new Way() {
            @Override
            public Lease acquire() throws InterruptedException {
                return semaphore.acquire();
            }

            @Override
            public Optional<Lease> tryAcquire() {
                return semaphore.tryAcquire();
            }

            @Override
            public Optional<Lease> tryAcquire(Duration wait) throws InterruptedException {
                return semaphore.tryAcquire(1, wait);
            }

            @Override
            public CompletableFuture<Lease> acquireAsync() {
                return semaphore.acquireAsync(1);
            }

            @Override
            public Lease occupy() throws InterruptedException {
                return semaphore.acquire(semaphore.limit());
            }
        };
    }
}
