// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck.keeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.DistributedLock;
import io.lockkeeper.Lease;
import io.lockkeeper.LeaseLost;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.tck.support.HandleContract;
import io.lockkeeper.tck.support.Pauses;
import io.lockkeeper.tck.support.Warnings;
import io.lockkeeper.testkit.FaultyStore;
import io.lockkeeper.testkit.StepKind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * User code in places where few expect it: a thread that overrides {@code interrupt()}, a handler of the log, and slow
 * continuations of futures. Like any callback (H87), it harms nobody else.
 */
public abstract class SlowUserCodeContract extends HandleContract {
    /** More than a keeper has threads for losses at first. */
    private static final int CROWD = 6;

    private final AtomicInteger blocked = new AtomicInteger();
    private FaultyStore store;
    private Lockkeeper keeper;
    private Lockkeeper other;
    private CountDownLatch end;

    @BeforeEach
    final void keepers() {
        end = blockage();
        store = faulty();
        keeper = keeper(store);
        other = keeper();
    }

    private LockOptions renewedOften() {
        return LockOptions.defaults().lease(longer(Duration.ofMillis(2_500), keeper));
    }

    private void blockHere() {
        blocked.incrementAndGet();
        block(end);
    }

    /** While user code blocks: holds are renewed, and losses of each kind are reported. */
    private void othersGoOn(Lease kept) throws Exception {
        int before = store.count(StepKind.RENEW);
        for (LockOptions options : List.of(renewedOften(), brief(keeper))) {
            CompletableFuture<LeaseLost> told = new CompletableFuture<>();
            Lease lost = keeper.lock(name("lost"), options).acquire().onLost(told::complete);
            if (options.equals(renewedOften())) {
                lose(lost, other);
            }
            assertThat(get(told).token()).as("the holder is notified").isEqualTo(lost.token());
            lost.release();
        }
        await("holds are renewed", () -> store.count(StepKind.RENEW) >= before + 3);
        assertThat(kept.isValid()).isTrue();
    }

    // ---- Interrupts ----

    /** What a thread does when it is interrupted because of which loss. */
    enum Peculiarity {
        THROWS_WHEN_BROKEN,
        THROWS_WHEN_EXPIRED,
        BLOCKS_WHEN_BROKEN,
        BLOCKS_WHEN_EXPIRED;

        boolean blocks() {
            return this == BLOCKS_WHEN_BROKEN || this == BLOCKS_WHEN_EXPIRED;
        }

        boolean expires() {
            return this == THROWS_WHEN_EXPIRED || this == BLOCKS_WHEN_EXPIRED;
        }
    }

    /** A thread that holds a lock, and has its own idea of an interrupt. */
    private final class Peculiar extends Thread {
        final CompletableFuture<Lease> held = new CompletableFuture<>();
        final CompletableFuture<LeaseLost> told = new CompletableFuture<>();
        private final AtomicInteger interrupts = new AtomicInteger();
        private final Peculiarity how;
        private final DistributedLock lock;

        Peculiar(Peculiarity how, String name) {
            this.how = how;
            this.lock = keeper.lock(name, how.expires() ? brief(keeper) : renewedOften());
        }

        @Override
        public void interrupt() {
            interrupts.incrementAndGet();
            if (how.blocks()) {
                blockHere();
            } else {
                throw new SecurityException("injected: may not be interrupted");
            }
        }

        @Override
        public void run() {
            try {
                held.complete(lock.acquire().onLost(told::complete).interruptOnLoss());
            } catch (Throwable e) {
                held.completeExceptionally(e);
            }
            block(end);
        }
    }

    @ParameterizedTest
    @EnumSource(Peculiarity.class)
    void aThreadThatOverridesInterruptHarmsNobodyElse(Peculiarity how) throws Exception {
        Lease kept = keeper.lock(name("kept"), renewedOften()).acquire();
        List<Peculiar> threads = new ArrayList<>();
        for (int i = 0; i < CROWD; i++) {
            Peculiar thread = new Peculiar(how, name("n" + i));
            thread.setDaemon(true);
            thread.start();
            threads.add(thread);
        }
        for (Peculiar thread : threads) {
            Lease lease = get(thread.held);
            if (!how.expires()) {
                lose(lease, other);
            }
        }
        for (Peculiar thread : threads) {
            assertThat(get(thread.told).token())
                    .as("it is notified")
                    .isEqualTo(get(thread.held).token());
            await("it is interrupted", () -> thread.interrupts.get() == 1);
        }
        othersGoOn(kept);
        for (Peculiar thread : threads) {
            try (Lease again = keeper.lock(get(thread.held).name(), outlasting())
                    .tryAcquire(LONG)
                    .orElseThrow()) {
                assertThat(again.isValid()).as("the name is usable").isTrue();
            }
            get(thread.held).release();
        }
        end.countDown();
        for (Peculiar thread : threads) {
            thread.join(LONG.toMillis());
            assertThat(thread.isAlive()).isFalse();
        }
        assertThat(kept.release()).isTrue();
    }

    // ---- The log ----

    /** Losses that nobody listens to are logged. Only the records of this test block, because others run beside it. */
    @Test
    void aLogHandlerThatBlocksDelaysNobodyElse() throws Exception {
        Warnings warnings = closing(new Warnings());
        warnings.handle(logged -> {
            if (logged.message().contains(name("unheard"))) {
                blockHere();
            }
        });
        closing(end::countDown);
        Lease kept = keeper.lock(name("kept"), renewedOften()).acquire();
        List<Lease> unheard = new ArrayList<>();
        for (int i = 0; i < CROWD; i++) {
            unheard.add(keeper.lock(name("unheard" + i), brief(keeper)).acquire());
        }
        await("the log blocks", () -> blocked.get() == CROWD);
        othersGoOn(kept);
        assertThat(unheard).noneMatch(Lease::isValid);
        assertThat(kept.release()).isTrue();
    }

    // ---- Continuations ----

    /** They run for 20 ms each, which is not long enough to be given more threads than the 32 that there are at first. */
    @Test
    void aTimedCallForSeveralLocksDoesNotWaitBehindContinuations() throws Exception {
        int continuations = 8_000; // for 5 s at least
        Lease taken = other.lock(name("b")).acquire();
        AtomicInteger run = new AtomicInteger();
        AtomicBoolean enough = new AtomicBoolean();
        closing(() -> enough.set(true));
        List<CompletableFuture<Boolean>> all = new ArrayList<>();
        for (int i = 0; i < continuations; i++) {
            all.add(keeper.lock(name("b"))
                    .tryAcquireAsync(Duration.ofMillis(200))
                    .thenApply(none -> {
                        run.incrementAndGet();
                        if (!enough.get()) {
                            doze();
                        }
                        return none.isEmpty();
                    }));
        }
        await("continuations run", () -> run.get() > 0);
        DistributedLock both = DistributedLock.all(keeper.lock(name("a")), keeper.lock(name("b")));
        Optional<Lease> none = both.tryAcquire(Duration.ofMillis(100));
        int before = run.get();
        assertThat(none).isEmpty();
        assertThat(before).as("continuations before the call ended").isLessThan(continuations / 2);
        enough.set(true);
        for (CompletableFuture<Boolean> each : all) {
            assertThat(get(each)).isTrue();
        }
        assertThat(taken.release()).isTrue();
        assertThat(isFree(both)).isTrue();
    }

    private static void doze() {
        try {
            Pauses.whileFaultLasts(Duration.ofMillis(20));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
