// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * A number of permits that all who use the same store and name share. Every acquisition is a {@link Lease}, so that the
 * permits of a client that died come back. First come, first served: a claim for many permits is not overtaken by
 * smaller ones. Errors are as for {@link DistributedLock}; a use of the name with another limit, or as a lock, is a
 * {@link ConflictingUseException}.
 *
 * <p>The number of permits is 1 to the limit, else {@link IllegalArgumentException}.
 */
public interface DistributedSemaphore {
    /** Acquires one permit, waiting as long as it takes. */
    Lease acquire() throws InterruptedException;

    /** Acquires so many permits together, waiting as long as it takes. */
    Lease acquire(int permits) throws InterruptedException;

    /** Acquires one permit if it can be had at once. */
    Optional<Lease> tryAcquire();

    /** Acquires so many permits if they can be had at once. */
    Optional<Lease> tryAcquire(int permits);

    /** Acquires so many permits together, waiting no longer than {@code wait}. */
    Optional<Lease> tryAcquire(int permits, Duration wait) throws InterruptedException;

    /** Acquires so many permits together without occupying a thread. Cancelling really leaves the queue. */
    CompletableFuture<Lease> acquireAsync(int permits);

    /** How many permits nobody holds. Asks the store. */
    int availablePermits();

    /** How many permits there are. */
    int limit();
}
