// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.lockkeeper.KeeperClosedException;
import io.lockkeeper.Lease;
import io.lockkeeper.LeaseLost.Reason;
import io.lockkeeper.LeaseLostException;
import io.lockkeeper.LockOptions;
import io.lockkeeper.memory.MemoryCore;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Closing meets everything: whoever waits ends, whatever is held is released, nothing stays. (Hazard H18.) */
final class CloseRaceTest {
    private static final int ROUNDS = Tier.pick(60, 2_000, 50_000);

    private final Race race = new Race();
    private final MemoryCore core = MemoryCore.system();

    @AfterEach
    void end() {
        race.close();
    }

    /** What an attempt gave: a lease, nothing, or that the keeper is closed. */
    private static Object attempt(Callable<?> acquire) throws Exception {
        try {
            Object got = acquire.call();
            return got instanceof Optional<?> optional
                    ? optional.map(Object.class::cast).orElse("empty")
                    : got;
        } catch (KeeperClosedException e) {
            return "closed";
        } catch (ExecutionException e) {
            assertThat(e).hasCauseInstanceOf(KeeperClosedException.class);
            return "closed";
        }
    }

    private static Object got(CompletableFuture<?> future) throws Exception {
        return future.get(Race.LONG_SECONDS, TimeUnit.SECONDS);
    }

    @Test
    void closingMeetsAcquiring() throws Exception {
        int acquired = 0;
        for (int i = 0; i < ROUNDS; i++) {
            Rig rig = new Rig(core, null);
            KeeperLock lock = rig.lock("x");
            KeeperLock fair = rig.lock("x", LockOptions.defaults().fair(true));
            assertThat(rig.lock("y").acquire().release()).isTrue(); // its timer runs, which takes a while to start
            List<Object> results = race.run(
                    () -> attempt(lock::acquire),
                    () -> attempt(lock::tryAcquire),
                    () -> attempt(() -> fair.tryAcquire(Duration.ofMinutes(1))),
                    () -> attempt(() -> got(lock.acquireAsync())),
                    () -> {
                        Race.linger();
                        rig.close();
                        return "done";
                    });
            for (Object result : results.subList(0, 4)) {
                if (result instanceof Lease lease) {
                    acquired++;
                    assertThat(lease.isValid()).isFalse();
                    assertThat(lease.release())
                            .as("lost when the keeper was closed")
                            .isFalse();
                } else {
                    assertThat(result).isIn("closed", "empty");
                }
            }
            Rig.await("nothing is left in the store", () -> core.size() == 0);
        }
        assertThat(acquired).as("not always too late").isPositive();
    }

    @Test
    void closingMeetsReleasingAndHandingOn() throws Exception {
        for (int i = 0; i < ROUNDS; i++) {
            Rig rig = new Rig(core, null);
            KeeperLock lock = rig.lock("x");
            Lease lease = lock.acquire();
            List<Object> results = race.run(
                    () -> attempt(() -> lease.release() ? "released" : "lost"), () -> attempt(lock::acquire), () -> {
                        rig.close();
                        return "done";
                    });
            assertThat(lease.isValid()).isFalse();
            if (results.get(0).equals("lost")) {
                assertThat(catchThrowableOfType(LeaseLostException.class, lease::ensureValid)
                                .loss()
                                .reason())
                        .as("lost by the closing, not because the closing released it first")
                        .isEqualTo(Reason.CLOSED);
            } else {
                assertThat(results.get(0)).isEqualTo("released");
            }
            if (results.get(1) instanceof Lease second) {
                assertThat(second.isValid()).isFalse();
            }
            Rig.await("nothing is left in the store", () -> core.size() == 0);
        }
    }

    @Test
    void closingLeavesNoThread() throws Exception {
        for (int i = 0; i < 5; i++) {
            Rig rig = new Rig(core, null);
            Lease lease = rig.lock("x").acquire();
            CompletableFuture<Lease> waiting = rig.lock("x").acquireAsync();
            assertThat(lease.releaseAsync().get(Race.LONG_SECONDS, TimeUnit.SECONDS))
                    .isTrue();
            waiting.get(Race.LONG_SECONDS, TimeUnit.SECONDS);
            rig.close();
        }
        Rig.await("no thread is left", () -> Thread.getAllStackTraces().keySet().stream()
                .noneMatch(thread -> thread.getName().startsWith("lockkeeper-rig-")));
    }
}
