// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.spi;

import io.lockkeeper.Guarantee;
import io.lockkeeper.Guarantees;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;

/**
 * The {@link Guarantees} of a store as a set.
 *
 * @param given what is promised
 * @param shortestLease the shortest lease that can be kept
 */
public record Promises(Set<Guarantee> given, Duration shortestLease) implements Guarantees {
    /** Copies the set. */
    public Promises {
        given = Set.copyOf(given);
    }

    @Override
    public boolean has(Guarantee guarantee) {
        return given.contains(guarantee);
    }

    @Override
    public Guarantees require(Guarantee... guarantees) {
        EnumSet<Guarantee> missing = EnumSet.noneOf(Guarantee.class);
        for (Guarantee guarantee : guarantees) {
            if (!has(guarantee)) {
                missing.add(guarantee);
            }
        }
        if (!missing.isEmpty()) {
            throw new UnsupportedOperationException("this store does not guarantee " + missing);
        }
        return this;
    }
}
