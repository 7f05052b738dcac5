// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck.support;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** The only two reasons for which a thread of the contract waits for nothing but time. */
public final class Pauses {
    private Pauses() {}

    /** Between two looks at the condition that a test waits for, until its deadline. */
    public static void betweenLooks(long millis) throws InterruptedException {
        pause(Duration.ofMillis(millis));
    }

    /**
     * As long as a fault lasts, or user code takes, or two of them are apart. That it takes time is what is tested, so that there
     * is no condition to wait for.
     */
    public static void whileFaultLasts(Duration time) throws InterruptedException {
        pause(time);
    }

    private static void pause(Duration time) throws InterruptedException {
        CountDownLatch never =
                new CountDownLatch(1); // one for each thread: those of a storm should not meet at a shared one
        if (never.await(time.toNanos(), TimeUnit.NANOSECONDS)) {
            throw new AssertionError("nobody opens this latch");
        }
    }
}
