// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.zookeeper;

import io.lockkeeper.spi.ClaimId;
import io.lockkeeper.spi.StoreTime;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

/**
 * Ids of steps that must not be carried out again, each with a value to remember, until their deadlines have passed.
 * Every copy of a step that this client makes passes through here; what is on the wire is fenced off by its session.
 */
final class RememberedIds<T> {
    private static final int SWEEP_AFTER = 256;

    private record Kept<T>(T what, StoreTime until) {}

    private final Map<ClaimId, Kept<T>> kept = new ConcurrentHashMap<>();
    private final Supplier<StoreTime> clock;
    private int untilSweep = SWEEP_AFTER;

    RememberedIds(Supplier<StoreTime> clock) {
        this.clock = clock;
    }

    void keep(ClaimId id, T what, StoreTime until) {
        StoreTime now = clock.get();
        if (until.isPast(now)) {
            return;
        }
        kept.put(id, new Kept<>(what, until));
        synchronized (this) {
            if (--untilSweep > 0) {
                return;
            }
            untilSweep = SWEEP_AFTER;
        }
        kept.values().removeIf(k -> k.until.isPast(now));
    }

    Optional<T> of(ClaimId id) {
        Kept<T> k = kept.get(id);
        return k == null || k.until.isPast(clock.get()) ? Optional.empty() : Optional.of(k.what);
    }
}
