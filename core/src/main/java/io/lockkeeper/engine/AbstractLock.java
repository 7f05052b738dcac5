// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.engine;

import io.lockkeeper.DistributedLock;
import io.lockkeeper.Lease;
import io.lockkeeper.LeaseFunction;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** What a lock on one name and a lock on several have in common: all that follows from a timed attempt. */
abstract class AbstractLock implements DistributedLock {
    @Override
    public final <T> Optional<T> tryCall(Duration wait, LeaseFunction<T> body) throws Exception {
        Objects.requireNonNull(body, "body");
        Optional<Lease> acquired = tryAcquire(wait);
        if (acquired.isEmpty()) {
            return Optional.empty();
        }
        T result;
        try (Lease lease = acquired.get()) {
            result = body.apply(lease);
        }
        return Optional.of(Objects.requireNonNull(result, "the result of the body"));
    }

    @Override
    public final boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
        return tryLock(Math.max(0, unit.toNanos(time)));
    }

    /** {@link #tryLock(long, TimeUnit)} in nanoseconds, not negative. */
    abstract boolean tryLock(long waitNanos) throws InterruptedException;
}
