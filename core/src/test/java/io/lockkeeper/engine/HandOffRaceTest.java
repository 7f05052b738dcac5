// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.Lease;
import io.lockkeeper.LockInfo;
import io.lockkeeper.LockOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A release that hands the hold over meets the end of the wait: a timeout, an interrupt, a cancel. Whatever the order,
 * exactly one has the lock afterwards, and nothing is left over. (Law 4 and 13, hazards H19 and H20.)
 */
final class HandOffRaceTest {
    private static final int ROUNDS = Tier.pick(300, 10_000, 200_000);

    /** Who hands over to whom. */
    enum Way {
        /** Threads of one keeper pass the hold on among themselves. */
        LOCAL,
        /** One keeper, but each attempt is a claim of its own: the store hands over. */
        FAIR,
        /** Two keepers: the store hands over and tells the other. */
        REMOTE
    }

    private final Rig holders = new Rig();
    private final Rig others = new Rig(holders.core, null);
    private final Race race = new Race();

    @AfterEach
    void end() {
        race.close();
        others.close();
        holders.close();
    }

    private KeeperLock holderLock(Way way) {
        return holders.lock("x", LockOptions.defaults().fair(way == Way.FAIR));
    }

    private KeeperLock waiterLock(Way way) {
        return (way == Way.REMOTE ? others : holders)
                .lock("x", LockOptions.defaults().fair(way == Way.FAIR));
    }

    private int waiters(String name) {
        return holders.keeper.store().inspect(name).map(LockInfo::waiters).orElse(0);
    }

    private void assertFree() throws Exception {
        holders.assertNothingIsLeft();
        others.assertNothingIsLeft();
    }

    private static void assertHeldAfter(Lease first, Lease second, KeeperLock lock) {
        assertThat(first.isValid()).isFalse();
        assertThat(second.isValid()).isTrue();
        assertThat(second.token()).isGreaterThan(first.token());
        assertThat(lock.tryAcquire()).as("the only owner").isEmpty();
        assertThat(second.release()).isTrue();
    }

    @ParameterizedTest
    @EnumSource
    void aReleaseMeetsTheTimeoutOfTheWaiter(Way way) throws Exception {
        KeeperLock mine = holderLock(way);
        KeeperLock theirs = waiterLock(way);
        for (int i = 0; i < ROUNDS; i++) {
            Lease first = mine.acquire();
            Duration wait = Duration.ofNanos(1 + i % 200 * 1_000L);
            List<Object> results = race.run(() -> theirs.tryAcquire(wait), first::release);
            assertThat(results.get(1)).isEqualTo(true);
            Optional<?> second = (Optional<?>) results.get(0);
            if (second.isPresent()) {
                assertHeldAfter(first, (Lease) second.get(), mine);
            }
            assertFree();
        }
    }

    @ParameterizedTest
    @EnumSource
    void aReleaseMeetsTheInterruptOfTheWaiter(Way way) throws Exception {
        KeeperLock mine = holderLock(way);
        KeeperLock theirs = waiterLock(way);
        int acquired = 0;
        for (int i = 0; i < ROUNDS; i++) {
            Lease first = mine.acquire();
            AtomicReference<Thread> waiter = new AtomicReference<>();
            List<Object> results = race.run(
                    () -> {
                        waiter.set(Thread.currentThread());
                        try {
                            Lease lease = theirs.acquire();
                            Thread.interrupted();
                            return lease;
                        } catch (InterruptedException e) {
                            assertThat(Thread.currentThread().isInterrupted())
                                    .as("the flag is cleared")
                                    .isFalse();
                            return "interrupted";
                        } finally {
                            waiter.set(null);
                        }
                    },
                    first::release,
                    () -> {
                        Thread thread = waiter.get();
                        if (thread != null) {
                            thread.interrupt();
                        }
                        return true;
                    });
            assertThat(results.get(1)).isEqualTo(true);
            if (results.get(0) instanceof Lease second) {
                acquired++;
                assertHeldAfter(first, second, mine);
            }
            assertFree();
        }
        assertThat(acquired).as("not always interrupted").isPositive();
    }

    @ParameterizedTest
    @EnumSource
    void aReleaseMeetsTheCancelOfTheFuture(Way way) throws Exception {
        KeeperLock mine = holderLock(way);
        KeeperLock theirs = waiterLock(way);
        for (int i = 0; i < ROUNDS; i++) {
            Lease first = mine.acquire();
            CompletableFuture<Lease> future = theirs.acquireAsync();
            List<Object> results = race.run(first::release, () -> future.cancel(false));
            assertThat(results.get(0)).isEqualTo(true);
            if (results.get(1).equals(false)) {
                assertHeldAfter(first, future.get(Race.LONG_SECONDS, TimeUnit.SECONDS), mine);
            }
            assertFree();
        }
    }

    @ParameterizedTest
    @EnumSource
    void aCancelMeetsTheBeginningOfTheWait(Way way) throws Exception {
        KeeperLock mine = holderLock(way);
        KeeperLock theirs = waiterLock(way);
        for (int i = 0; i < ROUNDS; i++) {
            Lease first = i % 2 == 0 ? mine.acquire() : null;
            CompletableFuture<Lease> future = theirs.acquireAsync();
            Race.linger();
            if (!future.cancel(false)) {
                assertThat(future.get().release()).isTrue();
            }
            if (first != null) {
                Rig.await("it has left the queue of the store", () -> waiters("x") == 0);
                assertThat(first.release()).isTrue();
            }
            assertFree();
        }
    }

    /** Each round has a name of its own, so that a lease that is taken away behind its owner's back is seen at the end. */
    @ParameterizedTest
    @EnumSource
    void aFutureThatGotTheLockKeepsIt(Way way) throws Exception {
        List<Lease> leases = new ArrayList<>();
        for (int i = 0; i < ROUNDS; i++) {
            String name = "x" + i;
            KeeperLock mine = holders.lock(name, LockOptions.defaults().fair(way == Way.FAIR));
            KeeperLock theirs = (way == Way.REMOTE ? others : holders)
                    .lock(name, LockOptions.defaults().fair(way == Way.FAIR));
            Lease first = mine.acquire();
            AtomicReference<CompletableFuture<Optional<Lease>>> future = new AtomicReference<>();
            race.run(
                    () -> {
                        future.set(theirs.tryAcquireAsync(Duration.ofMinutes(10)));
                        return true;
                    },
                    first::release);
            leases.add(future.get().get(Race.LONG_SECONDS, TimeUnit.SECONDS).orElseThrow());
        }
        TimeUnit.MILLISECONDS.sleep(50); // for what should not happen
        for (Lease lease : leases) {
            assertThat(lease.isValid()).as("%s", lease).isTrue();
            assertThat(lease.release()).isTrue();
        }
        assertFree();
    }

    @Test
    void aTimeoutOfTheFutureMeetsTheRelease() throws Exception {
        KeeperLock lock = holders.lock("x");
        for (int i = 0; i < ROUNDS; i++) {
            Lease first = lock.acquire();
            CompletableFuture<Optional<Lease>> future = lock.tryAcquireAsync(Duration.ofNanos(1 + i % 300 * 1_000L));
            Race.linger();
            assertThat(first.release()).isTrue();
            future.get(Race.LONG_SECONDS, TimeUnit.SECONDS).ifPresent(second -> assertHeldAfter(first, second, lock));
            assertFree();
        }
    }

    /** All ways to wait and to stop waiting at once: the counter is plain on purpose, the lock alone protects it. */
    @Test
    void aCrowdThatComesAndGoesNeverMeetsInside() throws Exception {
        Inside inside = new Inside();
        int each = Tier.pick(1_500, 40_000, 1_000_000);
        List<Object> results = race.run(
                () -> crowd(holders, inside, each, 0),
                () -> crowd(holders, inside, each, 1),
                () -> crowd(holders, inside, each, 2),
                () -> crowd(others, inside, each, 3),
                () -> crowd(others, inside, each, 4));
        long sum = results.stream().mapToLong(r -> (Integer) r).sum();
        assertThat(inside.count).isEqualTo(sum);
        assertThat(sum).isPositive();
        assertFree();
    }

    /** What the lock protects. */
    private static final class Inside {
        private long count;
        private long mark;
        private boolean occupied;

        void pass(Lease lease) {
            assertThat(occupied).as("alone").isFalse();
            occupied = true;
            assertThat(lease.token()).as("tokens rise").isGreaterThan(mark);
            mark = lease.token();
            count++;
            Race.linger();
            occupied = false;
        }
    }

    private static int crowd(Rig rig, Inside inside, int times, int who) throws Exception {
        KeeperLock lock = rig.lock("x", LockOptions.defaults().fair(who == 2));
        int entered = 0;
        for (int i = 0; i < times; i++) {
            Lease lease = null;
            switch ((i + who) % 4) {
                case 0 -> lease = lock.tryAcquire().orElse(null);
                case 1 ->
                    lease = lock.tryAcquire(Duration.ofNanos(i % 97 * 10_000L)).orElse(null);
                case 2 -> {
                    CompletableFuture<Lease> future = lock.acquireAsync();
                    Race.linger();
                    if (i % 3 != 0 || !future.cancel(false)) {
                        lease = got(future);
                    }
                }
                default -> {
                    lock.lock();
                    inside.pass(lock.lease());
                    lock.unlock();
                    entered++;
                }
            }
            if (lease != null) {
                inside.pass(lease);
                assertThat(lease.release()).isTrue();
                entered++;
            }
        }
        return entered;
    }

    private static Lease got(CompletableFuture<Lease> future) throws Exception {
        try {
            return future.get(Race.LONG_SECONDS, TimeUnit.SECONDS);
        } catch (CancellationException | ExecutionException e) {
            throw new AssertionError("nobody cancelled it", e);
        }
    }
}
