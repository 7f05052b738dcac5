// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.DistributedLock;
import io.lockkeeper.Lease;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** One who gives up while it is about to enter a queue, so that it leaves before it was there: the name stays usable. */
final class LeavingRaceTest {
    private static final Duration LONG = Duration.ofSeconds(Race.LONG_SECONDS);

    private final Rig rig = new Rig();
    private final Race race = new Race();

    @AfterEach
    void end() {
        race.close();
        rig.close();
    }

    private AsyncAcquisition acquisition(KeeperLock lock, Consumer<AsyncAcquisition.Outcome> then) {
        return new AsyncAcquisition(
                rig.keeper, lock.request(), null, Long.MAX_VALUE, rig.keeper.events()::runOwn, then);
    }

    private void assertUsable(KeeperLock lock) throws Exception {
        Call<Boolean> call =
                Call.start(() -> lock.tryAcquire(LONG).orElseThrow().release());
        assertThat(call.get()).as("released").isTrue();
    }

    /** Has somebody find the queue of {@code x}, wait at its monitor, and be abandoned before it can enter. */
    private void leaveBeforeEntering(KeeperLock x) throws Exception {
        LocalQueue queue = rig.keeper.queueFor(x.request());
        AsyncAcquisition acquisition = acquisition(x, outcome -> {
            throw new AssertionError("nobody wants to know, but is told " + outcome);
        });
        Call<Boolean> entering;
        synchronized (queue) {
            entering = Call.start(() -> {
                acquisition.begin();
                return true;
            });
            Rig.await("it waits at the door", () -> entering.thread.getState() == Thread.State.BLOCKED);
            acquisition.abandon();
        }
        assertThat(entering.get()).isTrue();
    }

    @Test
    void aWaiterThatLeavesBeforeItEntersAHeldNamesQueueIsNotCounted() throws Exception {
        KeeperLock x = rig.lock("x");
        Lease held = x.acquire();
        leaveBeforeEntering(x);
        assertThat(x.tryAcquire()).isEmpty();
        assertThat(held.release()).isTrue();
        rig.assertNothingIsLeft();
        assertUsable(x);
        rig.assertNothingIsLeft();
    }

    @Test
    void aWaiterThatLeavesBeforeItEntersAnIdleQueueDoesNotBecomeItsDriver() throws Exception {
        KeeperLock x = rig.lock("x");
        leaveBeforeEntering(x);
        rig.assertNothingIsLeft();
        assertUsable(x);
        rig.assertNothingIsLeft();
    }

    /** Those behind one who left so get the lock when it is released. */
    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void waitersAcquireInTurn(int leavers) throws Exception {
        KeeperLock x = rig.lock("x");
        Lease held = x.acquire();
        for (int i = 0; i < leavers; i++) {
            leaveBeforeEntering(x);
        }
        CompletableFuture<Lease> waits = x.acquireAsync();
        assertThat(held.release()).isTrue();
        Call<Boolean> call = Call.start(() -> waits.get().release());
        assertThat(call.get()).isTrue();
        rig.assertNothingIsLeft();
    }

    @Test
    void beginningMeetsGivingUp() throws Exception {
        KeeperLock x = rig.lock("x");
        for (int i = 0; i < Tier.pick(3_000, 40_000, 1_000_000); i++) {
            AsyncAcquisition acquisition = acquisition(x, outcome -> {
                if (outcome instanceof AsyncAcquisition.Outcome.Acquired acquired) {
                    acquired.handle().releaseInBackground();
                }
            });
            race.run(
                    () -> {
                        acquisition.begin();
                        return true;
                    },
                    () -> {
                        acquisition.abandon();
                        return true;
                    });
            if (i % 20 == 0) {
                assertUsable(x);
            }
        }
        rig.assertNothingIsLeft();
    }

    @Test
    void cancellingAFutureOfSeveralLocksMeetsTheNextOfThem() throws Exception {
        KeeperLock b = rig.lock("b");
        DistributedLock both = MultiLock.of(rig.lock("a"), b);
        for (int i = 0; i < Tier.pick(2_000, 40_000, 1_000_000); i++) {
            CompletableFuture<Lease> future = both.acquireAsync();
            ThreadLocalRandom random = ThreadLocalRandom.current();
            for (int spins = random.nextInt(1 << random.nextInt(17)); spins > 0; spins--) {
                Thread.onSpinWait();
            }
            if (!future.cancel(false)) {
                future.join().release();
            }
            if (i % 10 == 0) {
                assertUsable(b);
            }
        }
        rig.assertNothingIsLeft();
    }
}
