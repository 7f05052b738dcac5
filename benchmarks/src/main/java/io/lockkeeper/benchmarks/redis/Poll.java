// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.benchmarks.redis;

import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** How the floors wait, and the scripts that both use. */
final class Poll {
    static final String RELEASE =
            "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0";

    /** In milliseconds. */
    static final int LEASE = 30_000;

    private Poll() {}

    /** Tries until it succeeds, every 0.5 to 1.5 ms. */
    static void until(BooleanSupplier attempt) {
        while (!attempt.getAsBoolean()) {
            LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(500_000, 1_500_000));
        }
    }

    static void expectOne(Object answer) {
        if (!Long.valueOf(1).equals(answer)) {
            throw new IllegalStateException("released " + answer + " instead of one");
        }
    }
}
