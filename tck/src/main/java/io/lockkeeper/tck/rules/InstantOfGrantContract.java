// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck.rules;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.DistributedLock;
import io.lockkeeper.Lease;
import io.lockkeeper.tck.support.Attempt;
import io.lockkeeper.tck.support.Rounds;
import io.lockkeeper.tck.support.StepContract;
import io.lockkeeper.tck.support.Waiting;
import io.lockkeeper.testkit.FaultyStore;
import io.lockkeeper.testkit.Gate;
import io.lockkeeper.testkit.StepKind;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Rule 4, at the instant of a grant: a client that gives up then has the hold or releases it; nothing is granted and then forgotten. */
public abstract class InstantOfGrantContract extends StepContract {
    private static final Duration SHORT = Duration.ofMillis(60);

    @Test
    @DisplayName("H20: interrupted at the instant of the grant: returned or released, never leaked")
    void anInterruptAtTheInstantOfTheGrantLosesNoHold() throws Exception {
        FaultyStore faulty = faulty();
        DistributedLock lock = keeper(faulty).lock(name(), veryLong());
        Gate gate = faulty.pauseAfter(StepKind.CLAIM);
        Attempt attempt = attempt(lock::acquire);
        assertThat(gate.awaitArrival(LONG)).isTrue();
        assertThat(holders(name())).hasSize(1);
        attempt.interrupt();
        gate.open();
        Optional<Lease> got = attempt.getUnlessInterrupted();
        if (got.isPresent()) {
            assertThat(attempt.keptFlag()).as("the interrupt is not swallowed").isTrue();
            assertThat(got.get().release()).isTrue();
        }
        assertIdle(name());
    }

    @Test
    void aTimeoutAtTheInstantOfTheGrantLosesNoHold() throws Exception {
        FaultyStore faulty = faulty();
        DistributedLock lock = keeper(faulty).lock(name(), veryLong());
        Gate gate = faulty.pauseAfter(StepKind.CLAIM);
        long begun = System.nanoTime();
        Attempt attempt = attemptToTry(() -> lock.tryAcquire(SHORT));
        assertThat(gate.awaitArrival(LONG)).isTrue();
        await("the wait is over", () -> System.nanoTime() - begun > 2 * SHORT.toNanos());
        gate.open();
        attempt.get().ifPresent(lease -> assertThat(lease.release()).isTrue());
        assertIdle(name());
    }

    @Test
    void aCancellationAtTheInstantOfTheGrantReleasesIt() throws Exception {
        FaultyStore faulty = faulty();
        Gate gate = faulty.pauseAfter(StepKind.CLAIM);
        CompletableFuture<Lease> future =
                keeper(faulty).lock(name(), veryLong()).acquireAsync();
        assertThat(gate.awaitArrival(LONG)).isTrue();
        assertThat(future.cancel(true)).isTrue();
        gate.open();
        awaitIdle(name());
        assertThat(future.isCancelled()).isTrue();
    }

    @ParameterizedTest
    @EnumSource(Waiting.GivesUp.class)
    void aWaiterThatGivesUpWhileItsGrantSignalIsOnItsWayReleasesTheGrant(Waiting.GivesUp how) throws Exception {
        needsQueue();
        FaultyStore faulty = faulty();
        DistributedLock lock = patient(faulty, VERY_PATIENT).lock(name(), veryLong());
        Lease holder = keeper().lock(name(), veryLong()).acquire();
        faulty.holdSignals();
        Waiting waiter = new Waiting(this, how, lock);
        waiter.awaitQueued();
        assertThat(holder.release()).isTrue();
        waiter.giveUp();
        awaitIdle(name());
        faulty.deliverSignals();
        assertIdle(name());
        assertThat(isFree(lock)).isTrue();
    }

    @ParameterizedTest
    @EnumSource(
            value = Waiting.GivesUp.class,
            names = {"IS_INTERRUPTED", "IS_CANCELLED"})
    @DisplayName("H20: a grant that races with a cancellation leaves nothing, in any round")
    void aGrantThatRacesWithACancellationLeavesNothing(Waiting.GivesUp how) throws Exception {
        Rounds rounds = Rounds.of(60, 2_000);
        DistributedLock mine = keeper().lock(name(), veryLong());
        DistributedLock other = keeper().lock(name(), veryLong());
        for (int i = 0; rounds.goOnAfter(i); i++) {
            Lease holder = other.acquire();
            CountDownLatch go = new CountDownLatch(1);
            Future<Boolean> releases = async(() -> {
                go.await();
                return holder.release();
            });
            if (how == Waiting.GivesUp.IS_INTERRUPTED) {
                Attempt attempt = attempt(mine::acquire);
                go.countDown();
                attempt.interrupt();
                attempt.getUnlessInterrupted().ifPresent(Lease::release);
            } else {
                CompletableFuture<Lease> future = mine.acquireAsync();
                go.countDown();
                if (!future.cancel(true)) {
                    assertThat(future.join().release()).isTrue();
                }
            }
            assertThat(get(releases)).isTrue();
            awaitIdle(name());
        }
    }

    @Test
    void aGrantThatRacesWithATimeoutLeavesNothing() throws Exception {
        Rounds rounds = Rounds.of(60, 2_000);
        DistributedLock mine = keeper().lock(name(), veryLong());
        DistributedLock other = keeper().lock(name(), veryLong());
        for (int i = 0; rounds.goOnAfter(i); i++) {
            Lease holder = other.acquire();
            Duration wait = Duration.ofNanos(1 + i * 20_000L);
            Attempt attempt = attemptToTry(() -> mine.tryAcquire(wait));
            assertThat(holder.release()).isTrue();
            attempt.get().ifPresent(lease -> assertThat(lease.release()).isTrue());
            awaitIdle(name());
        }
    }
}
