// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/**
 * A count that many may await to reach zero. A latch that was never set has count 0, and {@code await} returns at once.
 * Each setting begins a new generation: those who wait for one continue when its count reaches zero, even if the
 * latch has been set again since. Errors are as for {@link DistributedLock}.
 */
public interface DistributedLatch {
    /**
     * Sets the count, if it is zero.
     *
     * @param count 1 to 2<sup>53</sup> − 1
     * @return whether it was set
     */
    boolean trySetCount(long count);

    /** Counts down by one, unless the count is zero. */
    void countDown();

    /** The current count. */
    long count();

    /** Waits until the count is zero. */
    void await() throws InterruptedException;

    /** Waits until the count is zero, no longer than {@code wait}; false when the time ran out. */
    boolean await(Duration wait) throws InterruptedException;

    /** Completes when the count is zero; cancelling it ends the wait. */
    CompletableFuture<Void> awaitAsync();
}
