// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.Lease;
import io.lockkeeper.LockOptions;
import io.lockkeeper.spi.Ticker;
import java.lang.reflect.Field;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Something is thrown that nobody can handle, and takes a thread or an owner with it. Hazards H58, H65, H93. */
final class DeadThreadTest {
    private static final LockOptions SHORT = LockOptions.defaults().lease(Duration.ofSeconds(2));

    private final Timer timer = new Timer(Ticker.SYSTEM, now -> Long.MAX_VALUE, new Threads("test"));
    private final Workers workers = new Workers("test", new Threads("test"), timer, 1, () -> false);
    private final Rig rig = new Rig();

    @AfterEach
    void end() {
        rig.close();
        workers.close(System.nanoTime());
        timer.close();
    }

    /** It cannot even be logged. */
    private static final class Deadly extends Error {
        private static final long serialVersionUID = 1L;

        @Override
        public String getMessage() {
            throw this;
        }
    }

    @Test
    void aWorkerThatDiedIsReplaced() throws Exception {
        for (int i = 0; i < 3; i++) {
            workers.execute(() -> {
                throw new Deadly();
            });
        }
        CompletableFuture<Boolean> ran = new CompletableFuture<>();
        workers.execute(() -> ran.complete(true));
        assertThat(ran.get(Race.LONG_SECONDS, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void aTimerOutlivesATaskThatCannotEvenBeLogged() throws Exception {
        timer.schedule(0, () -> {
            throw new Deadly();
        });
        CompletableFuture<Boolean> ran = new CompletableFuture<>();
        timer.schedule(0, () -> ran.complete(true));
        assertThat(ran.get(Race.LONG_SECONDS, TimeUnit.SECONDS)).isTrue();
    }

    /** As after a stack that overflowed in the middle of its release. */
    @Test
    void aHoldThatNobodyCanReleaseIsNotRenewed() throws Exception {
        Lease lease = rig.lock("x", SHORT).acquire();
        Hold hold = rig.hold();
        Field possessions = Hold.class.getDeclaredField("possessions");
        possessions.setAccessible(true);
        synchronized (hold.queue) {
            ((List<?>) possessions.get(hold)).clear();
        }
        Call<Lease> next = Call.start(() -> rig.lock("x", SHORT).acquire());
        assertThat(next.get().release()).as("when the lease is over").isTrue();
        assertThat(lease.isValid()).isFalse();
        rig.assertNothingIsLeftHere();
    }
}
