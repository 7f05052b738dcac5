// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.Lease;
import io.lockkeeper.LockOptions;
import io.lockkeeper.memory.MemoryCore;
import io.lockkeeper.memory.MemoryStore;
import io.lockkeeper.spi.Renewals;
import io.lockkeeper.spi.Signals;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The connection to the store comes back, perhaps to a server that has forgotten everything: each hold is asked about at once,
 * so that no two believe for the rest of a lease that they have the lock. Leases are so long here that no ordinary renewal
 * would find out in time.
 */
final class ReconnectTest {
    private static final Duration LEASE = Duration.ofMinutes(10);

    /** The ways to hold a lock. */
    enum Way {
        KEPT_ALIVE,
        FIXED,
        LIMITED;

        LockOptions options() {
            return switch (this) {
                case KEPT_ALIVE -> LockOptions.defaults().lease(LEASE);
                case FIXED -> LockOptions.defaults().fixedLease(LEASE);
                case LIMITED -> LockOptions.defaults().lease(LEASE).maxHold(LEASE);
            };
        }
    }

    private final MemoryCore before = MemoryCore.system();
    private final MemoryCore after = MemoryCore.system();
    private final AtomicReference<MemoryStore> server = new AtomicReference<>(new MemoryStore(before));
    private final AtomicReference<Signals> signals = new AtomicReference<>();
    private final AtomicInteger renewals = new AtomicInteger();
    private final AtomicReference<CountDownLatch> network = new AtomicReference<>(new CountDownLatch(0));
    private final Rig rig = new Rig(
            before,
            Intercepted.store(server::get, (step, args, store) -> {
                Object answer = store.make();
                if (step.equals("listen")) {
                    signals.set((Signals) args[1]);
                } else if (step.equals("renew") && !((Renewals) args[0]).holds().isEmpty()) {
                    renewals.incrementAndGet();
                    network.get().await(); // the answer is on its way
                }
                return answer;
            }),
            null);

    @AfterEach
    void end() {
        network.get().countDown();
        rig.close();
    }

    private void restart() {
        server.set(new MemoryStore(after));
    }

    private void reconnect() {
        signals.get().missed();
    }

    private void awaitRenewals(int number) throws Exception {
        Rig.await("the store is asked", () -> renewals.get() >= number);
    }

    @ParameterizedTest
    @EnumSource
    void aHoldThatTheServerHasForgottenIsLost(Way way) throws Exception {
        Lease lease = rig.lock("x", way.options()).acquire();
        restart();
        reconnect();
        Rig.await("it is lost", () -> !lease.isValid());
        rig.assertNothingIsLeftHere();
    }

    /** What was answered before the connection was lost is no answer to what became of it. */
    @ParameterizedTest
    @EnumSource
    void anAnswerFromBeforeTheRestartIsNotBelieved(Way way) throws Exception {
        Lease lease = rig.lock("x", way.options()).acquire();
        CountDownLatch slow = new CountDownLatch(1);
        network.set(slow);
        reconnect();
        awaitRenewals(1);
        restart();
        reconnect();
        network.set(new CountDownLatch(0));
        slow.countDown(); // only now the old server's answer arrives
        Rig.await("it is lost", () -> !lease.isValid());
        rig.assertNothingIsLeftHere();
    }

    /** Nor when it is another hold's renewal that holds the lane up. */
    @Test
    void aHoldIsAskedAboutThoughARenewalOfAnotherIsOnItsWay() throws Exception {
        Lease kept = rig.lock("kept", Way.KEPT_ALIVE.options()).acquire();
        CountDownLatch slow = new CountDownLatch(1);
        network.set(slow);
        reconnect();
        awaitRenewals(1);
        Lease fixed = rig.lock("fixed", Way.FIXED.options()).acquire();
        restart();
        reconnect();
        network.set(new CountDownLatch(0));
        slow.countDown();
        Rig.await("both are lost", () -> !kept.isValid() && !fixed.isValid());
    }

    @ParameterizedTest
    @EnumSource
    void aHoldThatTheServerRemembersStays(Way way) throws Exception {
        Lease lease = rig.lock("x", way.options()).acquire();
        reconnect();
        awaitRenewals(1);
        Rig.await("the answer has come", () -> !rig.hold().renewing);
        assertThat(lease.isValid()).isTrue();
        assertThat(lease.release()).isTrue();
        rig.assertNothingIsLeft();
    }

    /** Being asked about lengthens neither a fixed lease nor one that has come to its longest hold. */
    @ParameterizedTest
    @EnumSource(names = {"FIXED", "LIMITED"})
    void aLeaseThatIsNotRenewedIsNotLengthened(Way way) throws Exception {
        Lease lease = rig.lock("x", way.options()).acquire();
        long latestEnd = System.nanoTime() + LEASE.toNanos();
        long begun = System.nanoTime();
        Rig.await("some time passes", () -> System.nanoTime() - begun > TimeUnit.MILLISECONDS.toNanos(200));
        reconnect();
        awaitRenewals(1);
        Rig.await("the answer has come", () -> !rig.hold().renewing);
        // Asked before the time is read, so that the difference can only be less than it was.
        Duration inStore =
                server.get().inspect("x").orElseThrow().holders().get(0).expiresIn();
        Duration here = lease.remaining();
        Duration left = Duration.ofNanos(latestEnd - begun);
        assertThat(inStore).isLessThan(left.minusMillis(150));
        assertThat(here).isLessThan(left.minusMillis(150));
        assertThat(rig.hold().validity.renewAt())
                .as("it is not renewed from now on, either")
                .isEqualTo(Long.MAX_VALUE);
        assertThat(lease.release()).isTrue();
    }
}
