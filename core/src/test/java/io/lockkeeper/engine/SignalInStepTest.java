// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.Lease;
import io.lockkeeper.LockInfo;
import io.lockkeeper.memory.MemoryCore;
import io.lockkeeper.memory.MemoryStore;
import io.lockkeeper.spi.Signals;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A signal that comes while the answer that grants is on its way concerns the hold that this answer brings. */
final class SignalInStepTest {
    private final MemoryCore core = MemoryCore.system();
    private final MemoryStore store = new MemoryStore(core);
    private final AtomicReference<Signals> signals = new AtomicReference<>();
    private final CountDownLatch decided = new CountDownLatch(1);
    private final CountDownLatch answered = new CountDownLatch(1);
    private volatile boolean losesSignals;
    private final Rig other = new Rig(core, null);
    private final Rig rig = new Rig(
            core,
            Intercepted.store(store, (step, args, inner) -> {
                if (step.equals("listen")) {
                    Signals told = (Signals) args[1];
                    signals.set(told);
                    args[1] = Intercepted.signals(told, (signal, a, go) -> losesSignals ? null : go.make());
                }
                Object answer = inner.make();
                if (step.equals("claim") && decided.getCount() > 0) {
                    decided.countDown();
                    answered.await(Race.LONG_SECONDS, TimeUnit.SECONDS);
                }
                return answer;
            }),
            Duration.ofSeconds(Race.LONG_SECONDS),
            false);

    @AfterEach
    void end() {
        answered.countDown();
        rig.close();
        other.close();
    }

    /** Its claim is granted, and broken, before it hears of the grant. */
    private Call<Optional<Lease>> brokenInStep() throws Exception {
        Call<Optional<Lease>> call = Call.start(() -> rig.lock("x").tryAcquire());
        assertThat(decided.await(Race.LONG_SECONDS, TimeUnit.SECONDS)).isTrue();
        LockInfo.Hold hold = store.inspect("x").orElseThrow().holders().get(0);
        assertThat(store.breakHold("x", hold.token(), Duration.ZERO, true)).isTrue();
        return call;
    }

    @Test
    void aHoldThatWasLostBeforeItsGrantIsKnownIsNotReported() throws Exception {
        Call<Optional<Lease>> call = brokenInStep();
        Lease next = other.lock("x").acquire();
        answered.countDown();
        assertThat(call.get()).isEmpty();
        assertThat(next.release()).isTrue();
        rig.assertNothingIsLeftHere();
    }

    @Test
    void aReconnectBeforeTheGrantIsKnownIsNotMissed() throws Exception {
        losesSignals = true;
        Call<Optional<Lease>> call = brokenInStep();
        Lease next = other.lock("x").acquire();
        losesSignals = false;
        signals.get().missed();
        answered.countDown();
        assertThat(call.get()).isEmpty();
        assertThat(next.release()).isTrue();
        rig.assertNothingIsLeftHere();
    }

    /** What is still held is reported, after the store was asked. */
    @Test
    void aReconnectCostsNoGrant() throws Exception {
        Call<Optional<Lease>> call = Call.start(() -> rig.lock("x").tryAcquire());
        assertThat(decided.await(Race.LONG_SECONDS, TimeUnit.SECONDS)).isTrue();
        signals.get().missed();
        answered.countDown();
        assertThat(call.get().orElseThrow().release()).isTrue();
        rig.assertNothingIsLeft();
    }
}
