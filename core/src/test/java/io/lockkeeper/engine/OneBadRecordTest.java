// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.Lease;
import io.lockkeeper.LeaseLost;
import io.lockkeeper.LockInfo;
import io.lockkeeper.LockOptions;
import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.memory.MemoryCore;
import io.lockkeeper.memory.MemoryStore;
import io.lockkeeper.spi.Renewals;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** One record cannot be renewed, as when it is damaged: it costs the others nothing that are asked about with it. */
final class OneBadRecordTest {
    private static final LockOptions SHORT = LockOptions.defaults().lease(Duration.ofSeconds(3));

    private final MemoryCore core = MemoryCore.system();
    private final MemoryStore store = new MemoryStore(core);
    private final AtomicInteger requests = new AtomicInteger();
    private volatile Supplier<? extends Throwable> failure = () -> null;
    private final Rig other = new Rig(core, null);
    private final Rig rig = new Rig(
            core,
            Intercepted.store(store, (step, args, inner) -> {
                if (step.equals("renew")) {
                    requests.incrementAndGet();
                    Renewals renewals = (Renewals) args[0];
                    boolean isBad = Stream.concat(
                                    renewals.holds().stream()
                                            .map(hold -> hold.grant().claim()),
                                    renewals.queued().stream())
                            .anyMatch(claim -> claim.name().startsWith("bad"));
                    Throwable thrown = failure.get();
                    if (isBad && thrown != null) {
                        throw thrown;
                    }
                }
                return inner.make();
            }),
            Duration.ofSeconds(1),
            false);

    @AfterEach
    void end() {
        failure = () -> null;
        rig.close();
        other.close();
    }

    static List<Arguments> failures() {
        return List.of(
                Arguments.of((Supplier<Throwable>) () -> StoreUnavailableException.lasting("it is damaged", null)),
                Arguments.of((Supplier<Throwable>) () -> StoreUnavailableException.ofOneName("it is moving", null)),
                Arguments.of((Supplier<Throwable>) () -> new NullPointerException("a foreign row")));
    }

    @ParameterizedTest
    @MethodSource("failures")
    void itsHoldIsLostAndNoOther(Supplier<Throwable> how) throws Exception {
        assertThatOnlyTheBadAreLost(20, 8, how);
    }

    /** More than could be found if all of a request's large parts were tried first. */
    @ParameterizedTest
    @MethodSource("failures")
    void holdsOfManyAreLostAndNoOther(Supplier<Throwable> how) throws Exception {
        assertThatOnlyTheBadAreLost(360, 9, how);
    }

    private void assertThatOnlyTheBadAreLost(int many, int every, Supplier<Throwable> how) throws Exception {
        List<Lease> good = new ArrayList<>();
        List<Lease> bad = new ArrayList<>();
        for (int i = 0; i < many; i++) {
            good.add(rig.lock("good" + i, SHORT).acquire());
            if (i % every == 0) {
                bad.add(rig.lock("bad" + i, SHORT).acquire());
            }
        }
        List<CompletableFuture<LeaseLost>> losses = new ArrayList<>();
        for (Lease lease : bad) {
            CompletableFuture<LeaseLost> loss = new CompletableFuture<>();
            lease.onLost(loss::complete);
            losses.add(loss);
        }
        failure = how;
        for (CompletableFuture<LeaseLost> loss : losses) {
            assertThat(loss.get(Race.LONG_SECONDS, TimeUnit.SECONDS).reason())
                    .isEqualTo(LeaseLost.Reason.STORE_UNREACHABLE);
        }
        int before = requests.get();
        Rig.await("renewals go on", () -> requests.get() >= before + 3);
        assertThat(good).allMatch(Lease::isValid);
        good.forEach(lease -> assertThat(lease.release()).isTrue());
    }

    @ParameterizedTest
    @MethodSource("failures")
    void waitersForAnotherNameGoOnWaiting(Supplier<Throwable> how) throws Exception {
        Lease good = other.lock("good").acquire();
        Lease bad = other.lock("bad").acquire();
        CompletableFuture<Lease> forGood = rig.lock("good").acquireAsync();
        CompletableFuture<Lease> forBad = rig.lock("bad").acquireAsync();
        Rig.await("both wait", () -> waiters("good") == 1 && waiters("bad") == 1);
        failure = how;
        int before = requests.get();
        Rig.await("it was asked about often", () -> requests.get() >= before + 3);
        assertThat(forGood).isNotDone();
        assertThat(good.release()).isTrue();
        assertThat(forGood.get(Race.LONG_SECONDS, TimeUnit.SECONDS).release()).isTrue();
        failure = () -> null;
        assertThat(bad.release()).isTrue();
        forBad.handle((lease, e) -> lease != null && lease.release()).get(Race.LONG_SECONDS, TimeUnit.SECONDS);
        rig.assertNothingIsLeftHere();
    }

    private int waiters(String name) {
        return store.inspect(name).map(LockInfo::waiters).orElse(0);
    }
}
