// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper;

import java.time.Duration;

/** What the store under a {@link Lockkeeper} promises. Immutable. */
public interface Guarantees {
    /** Whether the store promises this. */
    boolean has(Guarantee guarantee);

    /** The shortest lease that the store can keep; a shorter one is refused. */
    Duration shortestLease();

    /**
     * Insists on these guarantees; call it once at start-up.
     *
     * @return this
     * @throws UnsupportedOperationException naming what is missing
     */
    Guarantees require(Guarantee... guarantees);
}
