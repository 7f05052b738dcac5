// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck.primitives;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.lockkeeper.DistributedLatch;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.testkit.FaultyStore;
import io.lockkeeper.testkit.Gate;
import io.lockkeeper.testkit.LateStep;
import io.lockkeeper.testkit.StepKind;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Latches when steps, answers or signals get lost, and when the latch is set again meanwhile. */
public abstract class LatchFaultContract extends AbstractLatchContract {
    @Test
    void aStepWhoseAnswerWasLostCountsOnce() {
        FaultyStore store = faulty();
        DistributedLatch mine = keeper(store).latch(name());
        DistributedLatch other = keeper().latch(name());
        store.loseReply(StepKind.LATCH);
        assertThat(mine.trySetCount(3)).as("its own setting, seen again").isTrue();
        store.loseReply(StepKind.LATCH);
        mine.countDown();
        assertThat(other.count()).isEqualTo(2);
        store.fail(StepKind.LATCH);
        mine.countDown();
        assertThat(other.count()).isOne();
        store.loseReply(StepKind.LATCH);
        mine.countDown();
        assertThat(other.count()).isZero();
    }

    @Test
    void aCountDownThatArrivesTwiceCountsOnce() {
        FaultyStore store = faulty();
        DistributedLatch mine = keeper(store).latch(name());
        DistributedLatch other = keeper().latch(name());
        assertThat(other.trySetCount(3)).isTrue();
        LateStep late = store.sendLate(StepKind.LATCH);
        mine.countDown();
        assertThat(other.count()).isEqualTo(2);
        assertThat(late.deliver()).isNotNull();
        assertThat(other.count()).isEqualTo(2);
    }

    @Test
    void aLatchMayOpenWithoutASignal() throws Exception {
        FaultyStore store = faulty();
        DistributedLatch mine = impatient(store).latch(name());
        DistributedLatch other = keeper().latch(name());
        assertThat(other.trySetCount(1)).isTrue();
        store.loseSignals(true);
        store.resetCounts();
        CompletableFuture<Void> future = mine.awaitAsync();
        Future<Boolean> sync = async(() -> mine.await(LONG));
        awaitWatch(store, 2);
        other.countDown();
        get(future);
        assertThat(get(sync)).isTrue();
    }

    @Test
    void aWaitRidesOutAnOutage() throws Exception {
        FaultyStore store = faulty();
        DistributedLatch mine = keeper(store).latch(name());
        DistributedLatch other = keeper().latch(name());
        assertThat(other.trySetCount(1)).isTrue();
        CompletableFuture<Void> future = mine.awaitAsync();
        awaitWatch(store, 1);
        store.down();
        other.countDown();
        assertThat(future).isNotDone();
        store.up();
        get(future);
    }

    @Test
    void anUnreachableStoreIsAnErrorAndNeverAnOpenLatch() throws Exception {
        FaultyStore store = faulty();
        Lockkeeper keeper = closing(Lockkeeper.builder(store)
                .operationTimeout(Duration.ofMillis(500))
                .patience(Duration.ofMillis(300))
                .build());
        DistributedLatch mine = keeper.latch(name());
        assertThat(mine.trySetCount(1)).isTrue();
        Future<Boolean> waits = async(() -> mine.await(LONG));
        awaitWatch(store, 2);
        store.down();
        assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(mine::count);
        assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(mine::countDown);
        assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(mine::await);
        assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(() -> mine.trySetCount(1));
        assertThatExceptionOfType(ExecutionException.class)
                .as("patience has an end")
                .isThrownBy(() -> get(waits))
                .withCauseInstanceOf(StoreUnavailableException.class);
        store.up();
        assertThat(mine.await(Duration.ZERO)).isFalse();
    }

    @ParameterizedTest
    @CsvSource({"true, true", "true, false", "false, true", "false, false"})
    void aLatchThatIsSetAgainStrandsNobody(boolean hears, boolean knows) throws Exception {
        FaultyStore store = faulty();
        DistributedLatch mine = impatient(store).latch(name());
        DistributedLatch other = keeper().latch(name());
        assertThat(other.trySetCount(1)).isTrue();
        store.loseSignals(!hears);
        Gate looked = store.pauseAfter(StepKind.LATCH);
        CompletableFuture<Void> waits = mine.awaitAsync();
        assertThat(looked.awaitArrival(LONG)).isTrue();
        if (knows) {
            looked.open(); // otherwise it learns what it waits for when that is long gone
        }
        Gate slow = store.pauseBefore(StepKind.LATCH); // it looks again when the latch has been set again
        other.countDown();
        assertThat(other.trySetCount(3)).isTrue();
        slow.open();
        looked.open();
        get(waits);
        assertThat(mine.await(Duration.ZERO)).as("the new one is closed").isFalse();
        for (int i = 0; i < 3; i++) {
            other.countDown();
        }
    }
}
