// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.Lease;
import io.lockkeeper.LeaseLostException;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.spi.LockStore;
import io.lockkeeper.spi.Ticker;
import io.lockkeeper.testkit.ForwardingStore;
import io.lockkeeper.testkit.VirtualTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

/**
 * H90 where time is ours: many leases have reached the end of their validity. Two threads meet at each of them: one releases it,
 * and reads the clock slowly, as a thread does that is not on a processor just then; the other one asks meanwhile whether it
 * is valid, by which it learns of the loss. All of them are lost, so no release may say that it has released anything.
 */
class ReleaseAtLossTest {
    private static final int LEASES = 200;
    private static final long FOR = TimeUnit.SECONDS.toNanos(Tier.pick(4, 60));
    private static final long PAUSE = 20_000;

    private final VirtualTime time = new VirtualTime();
    private final AtomicInteger begun = new AtomicInteger();
    private final ThreadLocal<Integer> slow = ThreadLocal.withInitial(() -> 0);

    /** The same time; a thread that is to be slow takes a while to read it, once. */
    private final class SlowTicker implements Ticker {
        @Override
        public long nanos() {
            int nth = slow.get();
            if (nth > 0) {
                slow.set(0);
                begun.set(nth);
                LockSupport.parkNanos(PAUSE);
            }
            return time.nanos();
        }

        @Override
        public void parkUntil(long deadline) {
            time.parkUntil(deadline);
        }
    }

    @Test
    void noReleaseSucceedsFromTheEndOfValidityOn() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(2);
        LockStore store = new ForwardingStore(time.newStore()) {
            @Override
            public Ticker ticker() {
                return new SlowTicker();
            }
        };
        try (Lockkeeper keeper = Lockkeeper.on(store)) {
            long until = System.nanoTime() + FOR;
            for (int met = LEASES; System.nanoTime() < until; met += LEASES) {
                assertThat(round(keeper, threads))
                        .as("successful releases of lost holds, of " + met)
                        .isZero();
            }
        } finally {
            threads.shutdownNow();
        }
    }

    private int round(Lockkeeper keeper, ExecutorService threads) throws Exception {
        LockOptions options = LockOptions.defaults().fixedLease(Duration.ofSeconds(1));
        List<Lease> leases = new ArrayList<>();
        for (int i = 0; i < LEASES; i++) {
            leases.add(keeper.lock("n" + i, options).acquire().onLost(loss -> {}));
        }
        begun.set(0);
        time.jump(leases.get(0).remaining());
        Future<Integer> releases = threads.submit(() -> {
            int succeeded = 0;
            for (int i = LEASES - 1; i >= 0; i--) { // the keeper itself looks at them in some order, too
                slow.set(LEASES - i);
                succeeded += leases.get(i).release() ? 1 : 0;
                slow.set(0);
                begun.set(LEASES - i); // if it did not read the clock
            }
            return succeeded;
        });
        Future<Integer> asks = threads.submit(() -> {
            int lost = 0;
            for (int i = LEASES - 1; i >= 0; i--) {
                while (begun.get() < LEASES - i) {
                    Thread.onSpinWait();
                }
                try {
                    leases.get(i).ensureValid();
                } catch (LeaseLostException e) {
                    lost++;
                }
            }
            return lost;
        });
        int succeeded = releases.get(30, TimeUnit.SECONDS);
        assertThat(asks.get(30, TimeUnit.SECONDS)).as("losses").isEqualTo(LEASES);
        time.jump(Duration.ofSeconds(2)); // so that the names are free again
        return succeeded;
    }
}
