// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * A number of permits that all who use the same store and name share. Every acquisition is a {@link Lease}, so that the
 * permits of a client that died come back. First come, first served: a claim for many permits is not overtaken by
 * smaller ones. Threads of one process pass permits on among themselves for a bounded time, each with its own token, unless
 * the semaphore is {@link LockOptions#fair fair}. Errors are as for {@link DistributedLock}; a use of the name with another limit, or as a lock, is a
 * {@link ConflictingUseException}.
 *
 * <p>The number of permits is 1 to the limit, otherwise {@link IllegalArgumentException}.
 */
public interface DistributedSemaphore {
    /** Acquires one permit, waiting as long as it takes. */
    Lease acquire() throws InterruptedException;

    /** Acquires that many permits together, waiting as long as it takes. */
    Lease acquire(int permits) throws InterruptedException;

    /** Acquires one permit if it is free. */
    Optional<Lease> tryAcquire();

    /** Acquires that many permits if they are free. */
    Optional<Lease> tryAcquire(int permits);

    /** Acquires that many permits together, waiting no longer than {@code wait}. */
    Optional<Lease> tryAcquire(int permits, Duration wait) throws InterruptedException;

    /** Acquires that many permits together without occupying a thread. However the future is completed, the wait ends with it. */
    CompletableFuture<Lease> acquireAsync(int permits);

    /** How many permits nobody holds. Asks the store. */
    int availablePermits();

    /** How many permits there are. */
    int limit();
}
