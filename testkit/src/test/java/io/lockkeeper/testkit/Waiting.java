// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/** Waits, in real time, for what other threads do. */
final class Waiting {
    static final Duration LONG = Duration.ofSeconds(30);

    private static final CountDownLatch NEVER = new CountDownLatch(1);

    private Waiting() {}

    static void await(String what, BooleanSupplier condition) throws InterruptedException {
        long deadline = System.nanoTime() + LONG.toNanos();
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime()).as("in time: " + what).isLessThan(deadline);
            pause(1);
        }
    }

    static <T> T get(Future<T> future) throws Exception {
        return future.get(LONG.toSeconds(), TimeUnit.SECONDS);
    }

    private static void pause(long millis) throws InterruptedException {
        boolean never = NEVER.await(millis, TimeUnit.MILLISECONDS);
        assertThat(never).isFalse();
    }

    /** Gives what should not happen some time to happen. */
    static void giveItAChance() throws InterruptedException {
        pause(15);
    }
}
