// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.lockkeeper.Guarantee;
import io.lockkeeper.Lease;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.tck.support.Contract;
import java.io.File;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.Future;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.BeforeEach;

/** What the groups about clients in other JVMs share. */
abstract class AbstractJvmContract extends Contract {
    /** The patience of a claim that must not leave the queue by itself while a test lasts. */
    static final Duration FOR_EVER = Duration.ofMinutes(30);

    /** A client in this JVM. */
    Lockkeeper here;

    @BeforeEach
    final void connect() {
        assumeTrue(fixture().url().isPresent(), "NOT TESTED: no other JVM can reach this store");
        assumeTrue(File.separatorChar == '/', "NOT TESTED: this system cannot pause a process");
        here = keeper();
    }

    final ChildJvm start(boolean releaseOnShutdown) throws IOException {
        return closing(new ChildJvm(fixture().url().orElseThrow(), FOR_EVER, releaseOnShutdown));
    }

    final ChildJvm child() throws IOException, InterruptedException {
        return start(false).ready();
    }

    /** Pauses it, not in the middle of a step that would keep all others out. */
    final void pause(ChildJvm child) throws IOException, InterruptedException {
        child.pause();
        while (!fixture().letsOthersIn()) {
            child.resume();
            child.pause();
        }
    }

    /** The shortest lease that is kept alive here; a grant that is handed over begins with it. */
    final Duration lease() {
        Duration shortest = here.guarantees().shortestLease();
        Duration least = Duration.ofSeconds(1);
        return shortest.compareTo(least) < 0 ? least : shortest;
    }

    /** Waits with its own claim, on its own connection. */
    final Future<Lease> queue(String name) {
        Lockkeeper other = keeper();
        return async(() -> other.lock(name, LockOptions.defaults().fair(true)).acquire());
    }

    /** Waits in the same way, and returns when the store has queued it as the nth, if it has a queue. */
    final Future<Lease> queue(String name, int nth) throws InterruptedException {
        Future<Lease> next = queue(name);
        if (here.guarantees().has(Guarantee.FAIR)) {
            awaitWaiters(here, name, nth);
        }
        return next;
    }

    /** Waits with an eye on the store, so that whatever ends there is noticed at once; it is never free. */
    final void awaitTaken(String what, String name, BooleanSupplier condition) throws InterruptedException {
        await(what, () -> {
            assertThat(here.lock(name).tryAcquire()).isEmpty();
            return condition.getAsBoolean();
        });
    }

    final void assertHolder(String name, long token) {
        assertThat(here.inspector().inspect(name).orElseThrow().holders())
                .extracting(hold -> hold.token())
                .containsExactly(token);
    }
}
