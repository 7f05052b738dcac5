// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.engine;

import io.lockkeeper.Guarantee;
import io.lockkeeper.Guarantees;
import io.lockkeeper.LockOptions;
import java.time.Duration;

/**
 * {@link LockOptions} with nothing left open, checked against what the store can do.
 *
 * @param lease what a claim asks for
 * @param renewed whether the lease is kept alive
 * @param maxHold nanoseconds after which a hold ends; {@link Long#MAX_VALUE} for never
 * @param handsOn whether threads may pass a hold on among themselves
 * @param lockDelay see {@link LockOptions#lockDelay(Duration)}
 * @param label see {@link LockOptions#label(String)}
 */
record Settings(Duration lease, boolean renewed, long maxHold, boolean handsOn, Duration lockDelay, String label) {
    static Settings of(LockOptions options, Guarantees guarantees) {
        boolean fixed = options.fixedLease().isPresent();
        Duration shortest = guarantees.shortestLease();
        if (options.lease().compareTo(shortest) < 0) {
            throw new IllegalArgumentException("the lease is " + options.lease()
                    + "; this store can keep none that is shorter than shortestLease(), " + shortest);
        }
        Duration delay = options.lockDelay().orElse(Duration.ZERO);
        if (!delay.isZero()) {
            guarantees.require(Guarantee.LOCK_DELAY);
        }
        Duration lease = options.maxHold()
                .filter(max -> max.compareTo(options.lease()) < 0)
                .orElse(options.lease());
        return new Settings(
                lease,
                !fixed,
                options.maxHold().map(Duration::toNanos).orElse(Long.MAX_VALUE),
                !options.fair() && !fixed && options.maxHold().isEmpty(),
                delay,
                options.label());
    }

    /** Whether a handed-over grant must be confirmed before it is reported. */
    boolean mustConfirm() {
        return !renewed || maxHold != Long.MAX_VALUE || !lockDelay.isZero();
    }
}
