// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.Lease;
import io.lockkeeper.LockOptions;
import io.lockkeeper.memory.MemoryCore;
import io.lockkeeper.memory.MemoryStore;
import io.lockkeeper.spi.Answer;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A store that is so slow that every grant has run out when it arrives. Nobody can have the lock then, and so whoever asks
 * asks again and again; but time limits, interrupts and cancelled futures are heeded all the same.
 */
final class SlowGrantTest {
    private static final Duration SHORT = Duration.ofMillis(100);
    private static final Duration ENDLESS = Duration.ofDays(1);
    private static final long STEP = 2_000_000;

    private final MemoryCore core = MemoryCore.system();
    private final AtomicInteger claims = new AtomicInteger();
    private volatile boolean isSlow = true;
    private final Rig rig = new Rig(
            core,
            Intercepted.store(new MemoryStore(core), (step, args, store) -> {
                Object answer = store.make();
                if (isSlow && step.equals("claim") && answer instanceof Answer.Granted granted) {
                    claims.incrementAndGet();
                    LockSupport.parkNanos(STEP); // so that asking again is not all that this machine does
                    return runOut(granted);
                }
                return answer;
            }),
            null);

    /** As if the answer had been on its way for most of the lease. */
    private static Answer runOut(Answer.Granted granted) {
        return new Answer.Granted(
                granted.token(), granted.block(), Duration.ofMillis(1), granted.confirmed(), granted.at());
    }

    @AfterEach
    void end() {
        rig.close();
    }

    private KeeperLock lock(boolean fixed) {
        Duration lease = Duration.ofSeconds(10);
        return rig.lock(
                "x",
                fixed
                        ? LockOptions.defaults().fixedLease(lease)
                        : LockOptions.defaults().lease(lease));
    }

    private void awaitSomeClaims() throws Exception {
        int before = claims.get();
        Rig.await("it asks again and again", () -> claims.get() > before + 2);
    }

    /** The store is fast again: the lock can be had, and nothing of what was tried in vain is left. */
    private void assertUsable() throws Exception {
        isSlow = false;
        assertThat(lock(false).tryAcquire(ENDLESS).orElseThrow().release()).isTrue();
        rig.assertNothingIsLeft();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aTimedWaitEnds(boolean fixed) throws Exception {
        Call<Optional<Lease>> call = Call.start(() -> lock(fixed).tryAcquire(SHORT));
        assertThat(call.get()).isEmpty();
        assertUsable();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void oneAttemptEnds(boolean fixed) throws Exception {
        Call<Optional<Lease>> call = Call.start(() -> lock(fixed).tryAcquire());
        assertThat(call.get()).isEmpty();
        assertUsable();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void anInterruptEndsAWait(boolean fixed) throws Exception {
        Call<Lease> call = Call.start(() -> lock(fixed).acquire());
        awaitSomeClaims();
        call.thread.interrupt();
        assertThat(call.failure()).isInstanceOf(InterruptedException.class);
        assertUsable();
    }

    @Test
    void anInterruptEndsATimedWait() throws Exception {
        Call<Optional<Lease>> call = Call.start(() -> lock(false).tryAcquire(ENDLESS));
        awaitSomeClaims();
        call.thread.interrupt();
        assertThat(call.failure()).isInstanceOf(InterruptedException.class);
        assertUsable();
    }

    @Test
    void aTimedWaitBehindOneWithoutEndEnds() throws Exception {
        Call<Lease> first = Call.start(() -> lock(false).acquire());
        awaitSomeClaims();
        Call<Optional<Lease>> second = Call.start(() -> lock(false).tryAcquire(SHORT));
        assertThat(second.get()).isEmpty();
        assertThat(first.isDone()).isFalse();
        first.thread.interrupt();
        assertThat(first.failure()).isInstanceOf(InterruptedException.class);
        assertUsable();
    }

    @Test
    void oneAttemptBehindOneWithoutEndEnds() throws Exception {
        Call<Lease> first = Call.start(() -> lock(false).acquire());
        awaitSomeClaims();
        Call<Optional<Lease>> second = Call.start(() -> lock(false).tryAcquire());
        assertThat(second.get()).isEmpty();
        isSlow = false;
        assertThat(first.get().release()).isTrue();
        assertUsable();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aTimedFutureEnds(boolean fixed) throws Exception {
        CompletableFuture<Optional<Lease>> future = lock(fixed).tryAcquireAsync(SHORT);
        assertThat(future.get(Race.LONG_SECONDS, TimeUnit.SECONDS)).isEmpty();
        assertUsable();
    }

    @Test
    void aCancelledFutureLeavesTheQueue() throws Exception {
        CompletableFuture<Lease> future = lock(false).acquireAsync();
        awaitSomeClaims();
        assertThat(future.cancel(false)).isTrue();
        rig.assertNothingIsLeft();
        assertUsable();
    }
}
