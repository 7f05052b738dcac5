// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck.rules;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lockkeeper.Lease;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.tck.support.FaultContract;
import io.lockkeeper.tck.support.Recorder;
import io.lockkeeper.testkit.FaultyStore;
import io.lockkeeper.testkit.StepKind;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Rule 11, as a listener sees it: which events an outage, a failed attempt or a late release causes, and in which order. */
@SuppressWarnings("LockNotBeforeTry")
public abstract class ErrorEventsContract extends FaultContract {
    @Test
    void anOutageThatTheHoldSurvivesIsReportedInOrder() throws Exception {
        FaultyStore store = faulty();
        Recorder told = new Recorder();
        Lockkeeper keeper =
                keeper(store, b -> b.operationTimeout(Duration.ofSeconds(20)).listener(told));
        Lease lease = hold(keeper.lock(name(), kept().lease(atLeast(6_000))));
        store.down();
        await("it is at risk", () -> told.has("atRisk"));
        int before = store.count(StepKind.RENEW);
        await("it is tried again", () -> store.count(StepKind.RENEW) >= before + 1);
        store.up();
        await("it is up again", () -> told.has("storeUp"));
        assertThat(lease.isValid()).isTrue();
        assertThat(lease.release()).isTrue();
        await("it is released", () -> told.has("released"));

        assertThat(told.kinds()).containsExactly("acquired", "storeDown", "atRisk", "storeUp", "released");
        assertThat(told.first("atRisk").time()).isPositive();
        for (String what : List.of("acquired", "atRisk", "released")) {
            assertThat(told.first(what).name()).isEqualTo(name());
            assertThat(told.first(what).token()).isEqualTo(lease.token());
        }
    }

    @Test
    void anOutageThatEndsTheHoldIsReportedInOrder() throws Exception {
        FaultyStore store = faulty();
        Recorder told = new Recorder();
        Lockkeeper keeper = keeper(store, b -> b.listener(told));
        Lease lease = hold(keeper.lock(name(), kept()));
        store.down();
        await("it is lost", () -> told.has("lost STORE_UNREACHABLE"));
        store.up();
        assertThat(lease.release()).isFalse();
        await("it is up again", () -> {
            keeper.inspector().inspect(name());
            return told.has("storeUp");
        });
        assertThat(told.kinds())
                .containsExactly("acquired", "storeDown", "atRisk", "lost STORE_UNREACHABLE", "storeUp");
    }

    @Test
    void attemptsThatEndWithoutTheLockAreReported() throws Exception {
        Recorder told = new Recorder();
        hold(keeper().lock(name(), longLease()));
        Lockkeeper keeper = keeper(store(), b -> b.listener(told));
        assertThat(keeper.lock(name()).tryAcquire()).isEmpty();
        assertThat(keeper.lock(name()).tryAcquire(Duration.ofMillis(100))).isEmpty();
        Thread.currentThread().interrupt();
        assertThatThrownBy(() -> keeper.lock(name()).tryAcquire(LONG)).isInstanceOf(InterruptedException.class);
        await("two are reported", () -> told.events().size() >= 2);
        assertThat(told.kinds()).allMatch(kind -> kind.equals("notAcquired"));
        assertThat(told.events().get(1).time()).isGreaterThanOrEqualTo(Duration.ofMillis(100));
        assertThat(told.events()).extracting(Recorder.Event::name).containsOnly(name());
    }

    @Test
    void aReleaseThatFindsTheHoldLostIsReportedAsLostAndNotAsReleased() throws Exception {
        FaultyStore store = faulty();
        store.loseSignals(true);
        Recorder told = new Recorder();
        Lease lease = hold(keeper(store, b -> b.listener(told)).lock(name(), longLease()));
        assertThat(keeper().inspector().breakHoldNow(name(), lease.token(), Duration.ZERO))
                .isTrue();
        assertThat(lease.release()).isFalse();
        await("it is lost", () -> told.events().size() >= 2);
        assertThat(told.kinds().get(1)).startsWith("lost");
        assertThat(told.kinds()).doesNotContain("released");
    }
}
