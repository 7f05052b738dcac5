// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testservers;

import java.time.Duration;
import java.util.function.BooleanSupplier;

/** Waits for what other processes do, which can only be polled. */
final class Deadline {
    private static final long POLL_MILLIS = 10;

    private Deadline() {}

    /** Whether the condition came true in time. */
    static boolean await(Duration limit, BooleanSupplier condition) {
        long end = System.nanoTime() + limit.toNanos();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - end > 0) {
                return false;
            }
            try {
                Thread.sleep(POLL_MILLIS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IllegalStateException("interrupted while waiting for a server", e);
            }
        }
        return true;
    }
}
