// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.lockkeeper.Lease;
import io.lockkeeper.LeaseLost;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.spi.LockStore;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Waits, hand-over and outages at exact times. (Rule 7, 8, 11 and 13.) */
final class WaitingOnVirtualTimeTest {
    private static final LockOptions OPTIONS = LockOptions.defaults();

    private final VirtualTime time = new VirtualTime();
    private final LockStore shared = time.newStore();
    private final FaultyStore holders = FaultyStore.on(shared);
    private final FaultyStore waiters = FaultyStore.on(shared);
    private final Lockkeeper holder = Lockkeeper.on(holders);
    private final Lockkeeper waiter = Lockkeeper.on(waiters);
    private final ExecutorService threads = Executors.newCachedThreadPool();

    @AfterEach
    void end() {
        waiter.close();
        holder.close();
        threads.shutdownNow();
    }

    private void awaitQueued() throws InterruptedException {
        Waiting.await(
                "it is queued",
                () -> shared.inspect("x").filter(info -> info.waiters() == 1).isPresent());
    }

    @Test
    void aTimedWaitEndsAtItsDeadlineAndNotBefore() throws Exception {
        holder.lock("x").acquire();
        Future<Optional<Lease>> thread = threads.submit(() -> waiter.lock("x").tryAcquire(Duration.ofSeconds(5)));
        awaitQueued();
        time.jump(Duration.ofSeconds(5).minusNanos(1));
        Waiting.giveItAChance();
        assertThat(thread.isDone()).isFalse();
        time.jump(Duration.ofNanos(1));
        assertThat(Waiting.get(thread)).isEmpty();
        assertThat(shared.inspect("x").orElseThrow().waiters()).isZero();
    }

    @Test
    void aTimedFutureEndsAtItsDeadlineAndNotBefore() throws Exception {
        holder.lock("x").acquire();
        CompletableFuture<Optional<Lease>> future = waiter.lock("x").tryAcquireAsync(Duration.ofSeconds(5));
        awaitQueued();
        time.jump(Duration.ofSeconds(5).minusNanos(1));
        Waiting.giveItAChance();
        assertThat(future).isNotDone();
        time.jump(Duration.ofNanos(1));
        assertThat(Waiting.get(future)).isEmpty();
        Waiting.await(
                "it has left the queue", () -> shared.inspect("x").orElseThrow().waiters() == 0);
    }

    @Test
    void aHandedOverLeaseIsShortAtFirstAndLengthenedByTheFirstRenewal() throws Exception {
        Lease first = holder.lock("x").acquire();
        CompletableFuture<Lease> future = waiter.lock("x").acquireAsync();
        awaitQueued();
        first.close();
        Lease second = Waiting.get(future);
        assertThat(second.isValid()).isTrue();
        assertThat(second.remaining()).isLessThan(Duration.ofSeconds(3));
        assertThat(waiters.count(StepKind.RENEW)).isZero();
        time.jump(Duration.ofSeconds(1));
        Waiting.await("a renewal", () -> waiters.count(StepKind.RENEW) == 1);
        Waiting.await("its answer", () -> second.remaining().compareTo(Duration.ofSeconds(25)) > 0);
    }

    @Test
    void aHandedOverLeaseThatCannotBeConfirmedIsLostWithinTheFirstLease() throws Exception {
        Lease first = holder.lock("x").acquire();
        CompletableFuture<Lease> future = waiter.lock("x").acquireAsync();
        awaitQueued();
        first.close();
        CompletableFuture<LeaseLost> lost = new CompletableFuture<>();
        Lease second = Waiting.get(future).onLost(lost::complete);
        waiters.down();
        time.jump(second.remaining());
        assertThat(Waiting.get(lost).remaining()).isPositive();
        time.jump(Duration.ofSeconds(3));
        assertThat(holder.lock("x").tryAcquire().orElseThrow().token()).isGreaterThan(second.token());
    }

    @Test
    void aHandedOverFixedLeaseIsConfirmedBeforeItIsReported() throws Exception {
        LockOptions fixed = OPTIONS.fixedLease(Duration.ofSeconds(20));
        Lease first = holder.lock("x").acquire();
        CompletableFuture<Lease> future = waiter.lock("x", fixed).acquireAsync();
        awaitQueued();
        first.close();
        Lease second = Waiting.get(future);
        assertThat(waiters.count(StepKind.RENEW)).isEqualTo(1);
        assertThat(second.remaining()).isGreaterThan(Duration.ofSeconds(17));
    }

    @Test
    void aGrantWithoutASignalIsFoundWhenTheLeaseBeforeItEnds() throws Exception {
        holder.lock("x", OPTIONS.fixedLease(Duration.ofSeconds(2))).acquire();
        waiters.loseSignals(true);
        CompletableFuture<Lease> future = waiter.lock("x").acquireAsync();
        awaitQueued();
        time.jump(Duration.ofMillis(1_999));
        Waiting.giveItAChance();
        assertThat(future).isNotDone();
        time.jump(Duration.ofMillis(2));
        assertThat(Waiting.get(future).isValid()).isTrue();
    }

    @Test
    void aLateSignalGivesWhatRemainsOfTheGrant() throws Exception {
        Lease first = holder.lock("x").acquire();
        waiters.holdSignals();
        CompletableFuture<Lease> future = waiter.lock("x").acquireAsync();
        awaitQueued();
        first.close();
        time.jump(Duration.ofMillis(900));
        waiters.deliverSignals();
        Lease second = Waiting.get(future);
        assertThat(second.remaining())
                .as("of three seconds nearly one has gone")
                .isLessThan(Duration.ofMillis(2_100));
    }

    /** Lets time pass by small steps until the future is done. */
    private Duration outageUntilDone(Future<?> future, Duration longest) throws Exception {
        Duration passed = Duration.ZERO;
        while (!future.isDone() && passed.compareTo(longest) < 0) {
            time.jump(Duration.ofMillis(250));
            passed = passed.plusMillis(250);
            Waiting.giveItAChance();
        }
        return passed;
    }

    @Test
    void aQueuedClaimRidesOutAnOutageForAsLongAsItIsPatient() throws Exception {
        holder.lock("x", OPTIONS.fixedLease(Duration.ofMinutes(5))).acquire();
        CompletableFuture<Lease> future = waiter.lock("x").acquireAsync();
        awaitQueued();
        waiters.down();
        Duration passed = outageUntilDone(future, Duration.ofMinutes(4));
        assertThat(passed).isGreaterThanOrEqualTo(Duration.ofSeconds(10)).isLessThan(Duration.ofMinutes(4));
        ExecutionException thrown = catchThrowableOfType(ExecutionException.class, () -> Waiting.get(future));
        assertThat(thrown).hasCauseInstanceOf(StoreUnavailableException.class);
        assertThat(thrown.getCause()).hasMessageContaining("'x'");
    }

    @Test
    void aQueuedClaimSurvivesAShortOutage() throws Exception {
        Lease first =
                holder.lock("x", OPTIONS.fixedLease(Duration.ofMinutes(5))).acquire();
        CompletableFuture<Lease> future = waiter.lock("x").acquireAsync();
        awaitQueued();
        waiters.down();
        outageUntilDone(future, Duration.ofSeconds(6));
        assertThat(future).isNotDone();
        waiters.up();
        first.close();
        assertThat(Waiting.get(future).isValid()).isTrue();
    }

    @Test
    void anOutageIsNotedWhenItBeginsAndWhenItEnds() throws Exception {
        Lease first = holder.lock("x").acquire();
        CompletableFuture<Lease> future = waiter.lock("x").acquireAsync();
        awaitQueued();
        waiters.down();
        first.close(); // the signal is lost with the connection
        Waiting.giveItAChance();
        assertThat(future).isNotDone();
        waiters.up();
        assertThat(Waiting.get(future).isValid())
                .as("after the reconnect it looks again, with no time passing")
                .isTrue();
    }
}
