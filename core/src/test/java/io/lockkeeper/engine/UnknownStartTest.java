// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.Lease;
import io.lockkeeper.LockInfo;
import io.lockkeeper.LockOptions;
import io.lockkeeper.memory.MemoryCore;
import io.lockkeeper.memory.MemoryStore;
import io.lockkeeper.spi.Answer;
import io.lockkeeper.spi.Renewals;
import io.lockkeeper.spi.Signals;
import io.lockkeeper.spi.StoreTime;
import io.lockkeeper.spi.Ticker;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * A grant is told by a server whose clock is another one than before, so that nobody knows since when it lasts. It must be
 * confirmed before it is used; until then it looks as if it had run out long ago, but nobody may throw it away.
 */
final class UnknownStartTest {
    private static final Duration LEASE = Duration.ofSeconds(2);

    private final MemoryCore core = MemoryCore.system();
    private final MemoryStore store = new MemoryStore(core);
    private final AtomicInteger claims = new AtomicInteger();
    private final AtomicInteger passes = new AtomicInteger();
    private final AtomicReference<Rig> itself = new AtomicReference<>();
    private final Rig other = new Rig(core, null);
    private final Rig rig = new Rig(
            core,
            Intercepted.store(store, (step, args, inner) -> {
                switch (step) {
                    case "listen" -> args[1] = fromAnotherIncarnation((Signals) args[1]);
                    case "claim" -> claims.incrementAndGet();
                    case "renew" -> {
                        if (!((Renewals) args[0]).holds().isEmpty()) {
                            pass();
                        }
                    }
                    default -> {}
                }
                return inner.make();
            }),
            null);

    private static Signals fromAnotherIncarnation(Signals signals) {
        return Intercepted.signals(signals, (signal, args, go) -> {
            if (signal.equals("granted")) {
                Answer.Granted granted = (Answer.Granted) args[1];
                StoreTime at = new StoreTime(
                        granted.at().incarnation() + 1, granted.at().micros());
                args[1] = new Answer.Granted(
                        granted.token(), granted.block(), granted.remaining(), granted.confirmed(), at);
            }
            return go.make();
        });
    }

    /** The renewer looks at everything while the confirmation is on its way. */
    private void pass() {
        Keeper keeper = itself.get().keeper;
        keeper.renewer().run(keeper.ticker().nanos());
        passes.incrementAndGet();
    }

    @AfterEach
    void end() {
        rig.close();
        other.close();
    }

    @Test
    void aPassOfTheTimerDoesNotThrowTheGrantAway() throws Exception {
        itself.set(rig);
        Rig.await("a lease since the clock began would be over", () -> Ticker.SYSTEM.nanos() > 2 * LEASE.toNanos());
        Lease held = other.lock("x").acquire();
        Call<Lease> call = Call.start(
                () -> rig.lock("x", LockOptions.defaults().lease(LEASE)).acquire());
        Rig.await(
                "it is queued", () -> store.inspect("x").map(LockInfo::waiters).orElse(0) == 1);
        Rig.await(
                "and knows it", () -> rig.keeper.claims().all().stream().anyMatch(c -> c.refreshAt != Long.MAX_VALUE));
        assertThat(held.release()).isTrue();
        Lease lease = call.get();
        assertThat(passes.get()).as("passes while it was confirmed").isPositive();
        assertThat(claims).as("one claim was enough").hasValue(1);
        assertThat(lease.isValid()).isTrue();
        assertThat(lease.release()).isTrue();
        rig.assertNothingIsLeft();
    }
}
