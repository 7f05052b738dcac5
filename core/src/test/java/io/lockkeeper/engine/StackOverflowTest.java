// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.Lease;
import io.lockkeeper.LockOptions;
import io.lockkeeper.LockkeeperException;
import io.lockkeeper.memory.MemoryCore;
import io.lockkeeper.memory.MemoryStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The stack of a user's thread overflows in a step of the store: the name can be locked afterwards all the same. */
final class StackOverflowTest {
    private static final LockOptions OPTIONS = LockOptions.defaults().lease(Duration.ofSeconds(1));
    private static final Duration LONG = Duration.ofSeconds(Race.LONG_SECONDS);

    private final MemoryCore core = MemoryCore.system();
    private volatile @Nullable String overflowsIn;
    private volatile boolean isMadeFirst;
    private final Rig rig = new Rig(
            core,
            Intercepted.store(new MemoryStore(core), (step, args, store) -> {
                boolean overflows = step.equals(overflowsIn);
                if (overflows) {
                    overflowsIn = null;
                }
                if (overflows && !isMadeFirst) {
                    throw new StackOverflowError("as the test wants it, before " + step);
                }
                Object answer = store.make();
                if (overflows) {
                    throw new StackOverflowError("as the test wants it, after " + step);
                }
                return answer;
            }),
            null);

    @AfterEach
    void end() {
        rig.close();
    }

    /** Acquires and releases; gives the lease if it is not known whether it was released. */
    private static @Nullable Lease use(KeeperLock lock) {
        Lease lease = null;
        try {
            lease = lock.tryAcquire().orElse(null);
            if (lease != null) {
                lease.release();
            }
            return null;
        } catch (StackOverflowError | LockkeeperException e) {
            return lease;
        }
    }

    private static void assertUsable(KeeperLock lock) throws Exception {
        Call<Boolean> call =
                Call.start(() -> lock.tryAcquire(LONG).orElseThrow().release());
        assertThat(call.get()).as("released: %s", lock).isTrue();
    }

    @ParameterizedTest
    @CsvSource({"claim, false", "claim, true", "release, false", "release, true"})
    void inAStep(String step, boolean madeFirst) throws Exception {
        isMadeFirst = madeFirst;
        overflowsIn = step;
        KeeperLock lock = rig.lock("x", OPTIONS);
        use(lock);
        assertThat(overflowsIn).as("it has overflowed").isNull();
        assertUsable(lock);
        rig.assertNothingIsLeftHere();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void inAStepOfAFuture(boolean madeFirst) throws Exception {
        isMadeFirst = madeFirst;
        overflowsIn = "claim";
        KeeperLock lock = rig.lock("x", OPTIONS);
        CompletableFuture<Lease> future = lock.acquireAsync();
        assertThat(future.handle((lease, failure) -> failure).get(Race.LONG_SECONDS, TimeUnit.SECONDS))
                .isInstanceOf(StackOverflowError.class);
        assertUsable(lock);
        rig.assertNothingIsLeftHere();
    }

    /** Others of this process wait behind the one whose stack overflows: the next of them goes on. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void inAStepThatOthersWaitFor(boolean madeFirst) throws Exception {
        KeeperLock lock = rig.lock("x", OPTIONS);
        Lease held = lock.acquire();
        List<Call<Boolean>> calls = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            calls.add(Call.start(() -> {
                try {
                    return lock.acquire().release();
                } catch (StackOverflowError e) {
                    return false;
                }
            }));
        }
        Rig.await("all wait", () -> calls.stream().allMatch(call -> call.thread.getState() == Thread.State.WAITING));
        isMadeFirst = madeFirst;
        overflowsIn = "claim";
        held.sequencer(); // so that it is not passed on, and the next makes a claim
        assertThat(held.release()).isTrue();
        int failed = 0;
        for (Call<Boolean> call : calls) {
            failed += call.get() ? 0 : 1;
        }
        assertThat(failed).isLessThanOrEqualTo(1);
        assertUsable(lock);
        rig.assertNothingIsLeftHere();
    }
}
