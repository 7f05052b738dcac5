// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.Lease;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Mode;
import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.memory.MemoryCore;
import io.lockkeeper.memory.MemoryStore;
import io.lockkeeper.spi.Claim;
import io.lockkeeper.spi.ClaimId;
import io.lockkeeper.spi.Renewals;
import io.lockkeeper.spi.Signals;
import io.lockkeeper.spi.Ticker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A store that can only say that something has happened to a claim, on a channel that others may write to: what happened is
 * asked, at once, and a forged message changes nothing. Leases are so long here that nothing would be found out in time
 * without the signal.
 */
final class HintTest {
    private static final LockOptions LONG = LockOptions.defaults().lease(Duration.ofMinutes(10));

    /** The machine's clock, unless the test stops it. */
    private static final class Clock implements Ticker {
        private volatile @Nullable Long stoppedAt;

        @Override
        public long nanos() {
            Long still = stoppedAt;
            return still == null ? SYSTEM.nanos() : still;
        }

        @Override
        public void parkUntil(long deadline) {
            SYSTEM.parkUntil(deadline);
        }
    }

    private final Clock clock = new Clock();
    private final MemoryCore core = MemoryCore.on(clock);
    private final MemoryStore store = new MemoryStore(core);
    private final AtomicReference<Signals> signals = new AtomicReference<>();
    private final AtomicReference<ClaimId> claimed = new AtomicReference<>();
    private final AtomicInteger refreshes = new AtomicInteger();
    private final AtomicReference<CountDownLatch> network = new AtomicReference<>(new CountDownLatch(0));
    private volatile boolean isDown;
    private final Rig other = new Rig(core, null);
    private final Rig rig = new Rig(core, Intercepted.store(store, this::step), null);

    private Object step(String step, Object[] args, Intercepted.Step inner) throws Throwable {
        if (step.equals("listen")) {
            signals.set((Signals) args[1]);
            args[1] = Intercepted.signals((Signals) args[1], this::signal);
        } else if (step.equals("claim")) {
            claimed.set(((Claim) args[0]).id());
        }
        Object answer = inner.make();
        if (step.equals("renew") && !((Renewals) args[0]).queued().isEmpty()) {
            refreshes.incrementAndGet();
            awaitUninterruptibly(network.get()); // the answer is on its way
            if (isDown) {
                throw new StoreUnavailableException("down (as the test wants it)", null);
            }
        }
        return answer;
    }

    /** As a step is that no interrupt breaks. */
    private static void awaitUninterruptibly(CountDownLatch latch) {
        boolean interrupted = false;
        while (latch.getCount() > 0) {
            try {
                latch.await();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private Object signal(String signal, Object[] args, Intercepted.Step inner) throws Throwable {
        switch (signal) {
            case "granted", "recalled", "lost" -> hint((ClaimId) args[0]);
            default -> inner.make();
        }
        return null;
    }

    private void hint(ClaimId claim) {
        signals.get().changed(claim);
    }

    /** As an outsider would who has seen the claim's id. */
    private void forge() {
        hint(claimed.get());
    }

    private void awaitWaiters(int number) throws Exception {
        Rig.await(
                number + " wait",
                () -> store.inspect("x").map(i -> i.waiters() == number).orElse(false));
    }

    @AfterEach
    void end() {
        network.get().countDown();
        rig.close();
        other.close();
    }

    @Test
    void aHandedOverLockIsAcquiredAtOnce() throws Exception {
        Lease held = other.lock("x", LONG).acquire();
        Call<Lease> waiter = Call.start(() -> rig.lock("x", LONG).acquire());
        awaitWaiters(1);
        held.release();
        Lease lease = waiter.get();
        assertThat(lease.token()).isGreaterThan(held.token());
        assertThat(lease.release()).isTrue();
        rig.assertNothingIsLeft();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void manyWaitersOfManyKindsAreServed(boolean fair) throws Exception {
        LockOptions options = LONG.fair(fair);
        Lease held = other.lock("x", LONG).acquire();
        List<Call<Boolean>> threads = new ArrayList<>();
        List<CompletableFuture<Boolean>> futures = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            threads.add(Call.start(() -> rig.lock("x", options).acquire().release()));
            futures.add(rig.lock("x", options).acquireAsync().thenApply(Lease::release));
        }
        awaitWaiters(fair ? 16 : 1);
        held.release();
        for (Call<Boolean> thread : threads) {
            assertThat(thread.get()).isTrue();
        }
        for (CompletableFuture<Boolean> future : futures) {
            assertThat(future.get(Race.LONG_SECONDS, TimeUnit.SECONDS)).isTrue();
        }
        rig.assertNothingIsLeft();
    }

    @Test
    void aForgedHintGrantsNothing() throws Exception {
        Lease held = other.lock("x", LONG).acquire();
        Call<Lease> waiter = Call.start(() -> rig.lock("x", LONG).acquire());
        awaitWaiters(1);
        for (int i = 1; i <= 20; i++) {
            int asked = i;
            forge();
            Rig.await("the store is asked", () -> refreshes.get() >= asked);
        }
        assertThat(waiter.isDone()).isFalse();
        assertThat(held.isValid()).isTrue();
        held.release();
        assertThat(waiter.get().release()).isTrue();
        rig.assertNothingIsLeft();
    }

    @Test
    void aForgedHintAboutAHoldEndsNothing() throws Exception {
        Lease held = rig.lock("x", LONG).acquire();
        forge();
        hint(new ClaimId("nobody", 7));
        Rig.await("it was asked about", () -> !rig.hold().renewing);
        assertThat(held.isValid()).isTrue();
        assertThat(held.release()).isTrue();
        rig.assertNothingIsLeft();
    }

    @Test
    void aBrokenHoldIsLostAtOnce() throws Exception {
        Lease held = rig.lock("x", LONG).acquire();
        assertThat(store.breakHold("x", held.token(), Duration.ZERO, false)).isTrue();
        Rig.await("it is lost", () -> !held.isValid());
        rig.assertNothingIsLeft();
    }

    /** The answer to a first question may be older than what a second signal was about. */
    @Test
    void aHintThatComesWhileTheStoreIsAskedIsNotForgotten() throws Exception {
        Lease held = other.lock("x", LONG).acquire();
        Call<Lease> waiter = Call.start(() -> rig.lock("x", LONG).acquire());
        awaitWaiters(1);
        CountDownLatch slow = new CountDownLatch(1);
        network.set(slow);
        int before = refreshes.get();
        forge();
        Rig.await("the store is asked", () -> refreshes.get() > before);
        held.release(); // the hint comes while the answer "queued" is on its way
        network.set(new CountDownLatch(0));
        slow.countDown();
        assertThat(waiter.get().release()).isTrue();
        rig.assertNothingIsLeft();
    }

    /** What the renewer finds while the first who waits asks is for that one: nothing is given back, or claimed again. */
    @Test
    void aGrantThatIsFoundTwiceIsTakenOnce() throws Exception {
        Lease held = other.lock("x", LONG).acquire();
        Call<Lease> waiter = Call.start(() -> rig.lock("x", LONG).acquire());
        awaitWaiters(1);
        CountDownLatch slow = new CountDownLatch(1);
        network.set(slow);
        int before = refreshes.get();
        forge();
        Rig.await("the store is asked", () -> refreshes.get() > before);
        network.set(new CountDownLatch(0));
        ClaimId first = claimed.get();
        held.release();
        signals.get().missed();
        Rig.await("the renewer finds the grant", () -> rig.keeper.claims().all().stream()
                .anyMatch(c -> c.hold != null));
        slow.countDown();
        assertThat(waiter.get().release()).isTrue();
        assertThat(claimed.get()).as("the claim that it holds by").isEqualTo(first);
        rig.assertNothingIsLeft();
    }

    /** Nor may one who only tries disturb those who wait, or wait with them. */
    @Test
    void oneAttemptEndsWhileTheStoreIsAsked() throws Exception {
        Lease held = other.lock("x", LONG).acquire();
        Call<Lease> waiter = Call.start(() -> rig.lock("x", LONG).acquire());
        awaitWaiters(1);
        CountDownLatch slow = new CountDownLatch(1);
        network.set(slow);
        int before = refreshes.get();
        forge();
        Rig.await("the store is asked", () -> refreshes.get() > before);
        assertThat(rig.lock("x", LONG).tryAcquire()).isEmpty();
        network.set(new CountDownLatch(0));
        slow.countDown();
        held.release();
        assertThat(waiter.get().release()).isTrue();
        rig.assertNothingIsLeft();
    }

    @Test
    void anInterruptWhileTheStoreIsAskedLeavesNothing() throws Exception {
        Lease held = other.lock("x", LONG).acquire();
        Call<Lease> waiter = Call.start(() -> rig.lock("x", LONG).acquire());
        awaitWaiters(1);
        CountDownLatch slow = new CountDownLatch(1);
        network.set(slow);
        int before = refreshes.get();
        held.release();
        Rig.await("the store is asked", () -> refreshes.get() > before);
        waiter.thread.interrupt();
        network.set(new CountDownLatch(0));
        slow.countDown();
        try {
            waiter.get().release(); // it was granted at that instant
        } catch (ExecutionException e) {
            assertThat(e.getCause()).isInstanceOf(InterruptedException.class);
        }
        rig.assertNothingIsLeft();
    }

    @Test
    void aFutureThatIsCancelledWhileTheStoreIsAskedLeavesNothing() throws Exception {
        Lease held = other.lock("x", LONG).acquire();
        CompletableFuture<Lease> future = rig.lock("x", LONG).acquireAsync();
        awaitWaiters(1);
        CountDownLatch slow = new CountDownLatch(1);
        network.set(slow);
        int before = refreshes.get();
        held.release();
        Rig.await("the store is asked", () -> refreshes.get() > before);
        assertThat(future.cancel(false)).isTrue();
        network.set(new CountDownLatch(0));
        slow.countDown();
        rig.assertNothingIsLeft();
    }

    /** The claim that was to be asked about stays queued, and is asked about again, as long as waiters are patient. */
    @Test
    void aStoreThatCannotBeAskedIsAskedAgain() throws Exception {
        Lease held = other.lock("x", LONG).acquire();
        Call<Optional<Lease>> waiter = Call.start(() -> rig.lock("x", LONG).tryAcquire(Duration.ofDays(1)));
        awaitWaiters(1);
        isDown = true;
        int before = refreshes.get();
        held.release();
        Rig.await("the store is asked in vain, and again", () -> refreshes.get() > before + 1);
        assertThat(waiter.isDone()).isFalse();
        isDown = false;
        assertThat(waiter.get().orElseThrow().release()).isTrue();
        rig.assertNothingIsLeft();
    }

    /**
     * The waiter that was to ask about a hint is given a permit by another thread before it asks, or leaves: the next in line
     * asks at once. Otherwise what was handed over would be found by a refresh, seconds later.
     */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void theNextInLineAsksWhenTheOneThatWasToAskIsGone(boolean isGivenAnother) throws Exception {
        clock.stoppedAt =
                clock.nanos(); // nothing is refreshed by itself, and a hold is passed on however slow the machine is
        Lease theirs = new KeeperSemaphore(other.keeper, "x", 2, LONG).acquire();
        Lease ours = new KeeperSemaphore(rig.keeper, "x", 2, LONG).acquire();
        LocalQueue queue = rig.keeper.queueFor(rig.keeper.request("x", Mode.PERMITS, 1, 2, LONG));
        Waiter first = PermitsTest.waiter();
        Waiter second = PermitsTest.waiter();
        queue.enter(first);
        queue.perform(first, rig.keeper.ticker().nanos()); // it is queued
        queue.enter(second);
        theirs.release();
        Rig.await("the first is to ask", () -> first.role() instanceof Role.Ask);
        if (isGivenAnother) {
            assertThat(ours.release()).isTrue();
            assertThat(first.result()).isInstanceOf(Result.Acquired.class);
        } else {
            assertThat(queue.abandon(first, rig.keeper.claims()::endInBackground))
                    .isTrue();
        }
        assertThat(second.role()).isInstanceOf(Role.Ask.class);
        queue.perform(second, rig.keeper.ticker().nanos());
        Rig.await("the second has a permit", () -> second.result() instanceof Result.Acquired);
        for (Waiter waiter : List.of(first, second)) {
            if (waiter.result() instanceof Result.Acquired acquired) {
                LeaseHandle handle = acquired.possession().handOut();
                assertThat(handle).isNotNull();
                assertThat(handle.release()).isTrue();
            }
        }
        if (!isGivenAnother) {
            assertThat(ours.release()).isTrue();
        }
        clock.stoppedAt = null;
        rig.assertNothingIsLeft();
    }
}
