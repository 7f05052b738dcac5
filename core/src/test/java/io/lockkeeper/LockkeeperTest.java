// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import io.lockkeeper.memory.MemoryCore;
import io.lockkeeper.memory.MemoryStore;
import io.lockkeeper.spi.Claim;
import io.lockkeeper.spi.LockStore;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Connecting: what is refused and what is said, whose word counts, and what is shared. */
final class LockkeeperTest {
    @ParameterizedTest
    @CsvSource({
        "jdbc:postgresql://u:hunter2@h/db,lockkeeper-sql",
        "file:/tmp/x,lockkeeper-sql",
        "redis://u:hunter2@h,lockkeeper-redis",
        "REDISS://u:hunter2@h,lockkeeper-redis",
        "redis-sentinel://h1/0#m,lockkeeper-redis",
        "redis-cluster://h1,lockkeeper-redis",
        "redlock://h1,lockkeeper-redis",
        "zookeeper://h,lockkeeper-zookeeper"
    })
    void theErrorForAMissingModuleNamesTheModuleToAdd(String url, String module) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Lockkeeper.connect(url))
                .withMessageContaining("io.lockkeeper:" + module)
                .satisfies(e -> assertThat(e.getMessage()).doesNotContain("hunter2"));
    }

    @Test
    void anUnknownSchemeListsTheKnown() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Lockkeeper.connect("rediz://u:hunter2@h"))
                .withMessageContaining("'rediz'")
                .withMessageContaining("memory")
                .satisfies(e -> assertThat(e.getMessage()).doesNotContain("hunter2"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"etcd://h", "etcds://h", "cell://h"})
    void noModuleIsNamedThatDoesNotExist(String url) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Lockkeeper.connect(url))
                .withMessageContaining("unknown scheme")
                .satisfies(e -> assertThat(e.getMessage()).doesNotContain("add the module"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "memory:?prefix=x",
                "memory:?lease=5s",
                "memory:?operationTimeout=5",
                "memory:?operationTimeout=9ms",
                "memory:?operationTimeout=61s",
                "memory:?patience=2h",
                "memory:?patience=0ms",
                "memory:?patience"
            })
    void badParametersAreRefused(String url) {
        assertThatIllegalArgumentException().isThrownBy(() -> Lockkeeper.connect(url));
    }

    @Test
    void anUnknownParameterListsTheKnown() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Lockkeeper.connect("memory:?patiense=5s"))
                .withMessageContaining("'patiense'")
                .withMessageContaining("patience");
    }

    @Test
    void nothingMayBeNull() {
        refusesNull("url", () -> Lockkeeper.connect(null));
        refusesNull("store", () -> Lockkeeper.on(null));
        refusesNull("member", () -> Lockkeeper.quorum((Lockkeeper) null));
        Lockkeeper.Builder builder = Lockkeeper.builder("memory:");
        refusesNull("clientName", () -> builder.clientName(null));
        refusesNull("defaults", () -> builder.defaults(null));
        refusesNull("listener", () -> builder.listener(null));
        refusesNull("executor", () -> builder.executor(null));
        refusesNull("operationTimeout", () -> builder.operationTimeout(null));
        refusesNull("patience", () -> builder.patience(null));
        try (Lockkeeper keeper = builder.build()) {
            refusesNull("name", () -> keeper.lock(null));
            refusesNull("options", () -> keeper.lock("x", null));
            refusesNull("name", () -> keeper.readWriteLock(null));
            refusesNull("options", () -> keeper.readWriteLock("x", null));
            refusesNull("name", () -> keeper.semaphore(null, 1));
            refusesNull("options", () -> keeper.semaphore("x", 1, null));
            refusesNull("name", () -> keeper.latch(null));
            refusesNull("options", () -> keeper.latch("x", null));
            refusesNull("name", () -> keeper.election(null));
            refusesNull("options", () -> keeper.election("x", null));
            refusesNull("wait", () -> keeper.lock("x").tryAcquire(null));
            refusesNull("wait", () -> keeper.lock("x").tryAcquireAsync(null));
            refusesNull("wait", () -> keeper.semaphore("s", 1).tryAcquire(1, null));
            refusesNull("wait", () -> keeper.latch("l").await(null));
            refusesNull("name", () -> keeper.inspector().inspect(null));
            refusesNull("sequencer", () -> keeper.inspector().check(null));
            refusesNull("name", () -> keeper.inspector().breakHold(null, 1, Duration.ZERO));
            refusesNull("lockDelay", () -> keeper.inspector().breakHoldNow("x", 1, null));
            refusesNull("prefix", () -> keeper.inspector().list(null, 1));
        }
        refusesNull("lease", () -> LockOptions.defaults().lease(null));
        refusesNull("lease", () -> LockOptions.defaults().fixedLease(null));
        refusesNull("maxHold", () -> LockOptions.defaults().maxHold(null));
        refusesNull("lockDelay", () -> LockOptions.defaults().lockDelay(null));
        refusesNull("label", () -> LockOptions.defaults().label(null));
    }

    /** The message is the name of the parameter. */
    private static void refusesNull(String parameter, ThrowingCallable call) {
        assertThatNullPointerException().isThrownBy(call).withMessage(parameter);
    }

    @Test
    void theBuildersValuesHaveRanges() {
        Lockkeeper.Builder builder = Lockkeeper.builder("memory:");
        assertThatIllegalArgumentException().isThrownBy(() -> builder.clientName(" "));
        assertThatIllegalArgumentException().isThrownBy(() -> builder.clientName("x".repeat(201)));
        for (Duration bad : new Duration[] {Duration.ZERO, Duration.ofMillis(9), Duration.ofDays(1)}) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> builder.operationTimeout(bad))
                    .withMessageContaining(bad.toString())
                    .withMessageContaining("PT0.01S to PT1M");
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> builder.patience(bad))
                    .withMessageContaining("PT0.01S to PT1H");
        }
    }

    @Test
    void aMemoryStoreWithoutANameIsPrivateAndOneWithANameIsShared() {
        try (Lockkeeper a = Lockkeeper.connect("memory:");
                Lockkeeper b = Lockkeeper.connect("memory:");
                Lockkeeper c = Lockkeeper.connect("memory:LockkeeperTest");
                Lockkeeper d = Lockkeeper.connect("memory:LockkeeperTest");
                Lockkeeper e = Lockkeeper.connect("memory:lockkeeperTest")) {
            assertThat(a.lock("x").tryAcquire()).isPresent();
            assertThat(b.lock("x").tryAcquire()).isPresent();
            Lease held = c.lock("x").tryAcquire().orElseThrow();
            assertThat(d.lock("x").tryAcquire()).isEmpty();
            assertThat(e.lock("x").tryAcquire()).as("names have case").isPresent();
            held.close();
            assertThat(d.lock("x").tryAcquire()).isPresent();
        }
    }

    @Test
    void aSharedMemoryStoreEndsWithItsLastUser() {
        Lockkeeper first = Lockkeeper.connect("memory:LockkeeperTestEnd");
        Lockkeeper second = Lockkeeper.connect("memory:LockkeeperTestEnd");
        long token = first.lock("x").tryAcquire().orElseThrow().token();
        first.close();
        first.close(); // counts once
        assertThat(second.lock("x").tryAcquire().orElseThrow().token())
                .as("still the same store")
                .isGreaterThan(token);
        second.close();
        try (Lockkeeper third = Lockkeeper.connect("memory:LockkeeperTestEnd")) {
            assertThat(third.lock("x").tryAcquire().orElseThrow().token())
                    .as("a new one begins anew")
                    .isEqualTo(token);
        }
    }

    /** What the last claim asked for. */
    private static LockStore spying(AtomicReference<Claim> last, AtomicInteger closed) {
        LockStore store = new MemoryStore(MemoryCore.system());
        return (LockStore) Proxy.newProxyInstance(
                LockkeeperTest.class.getClassLoader(), new Class<?>[] {LockStore.class}, (proxy, method, args) -> {
                    if (method.getName().equals("claim")) {
                        last.set((Claim) args[0]);
                    } else if (method.getName().equals("close")) {
                        closed.incrementAndGet();
                    }
                    return method.invoke(store, args);
                });
    }

    @Test
    void anArgumentCountsBeforeTheBuilderAndTheBuilderBeforeTheBuiltInValue() {
        AtomicReference<Claim> last = new AtomicReference<>();
        AtomicInteger closed = new AtomicInteger();
        try (Lockkeeper keeper = Lockkeeper.builder(spying(last, closed))
                .defaults(LockOptions.defaults().lease(Duration.ofSeconds(7)).label("from the builder"))
                .build()) {
            keeper.lock("a").tryAcquire().orElseThrow().close();
            assertThat(last.get().terms().lease()).isEqualTo(Duration.ofSeconds(7));
            assertThat(last.get().terms().label()).isEqualTo("from the builder");
            assertThat(last.get().terms().lockDelay()).isZero();
            assertThat(last.get().terms().patience()).as("built in").isEqualTo(Duration.ofSeconds(10));

            keeper.lock("b", LockOptions.defaults().lease(Duration.ofSeconds(3)))
                    .tryAcquire()
                    .orElseThrow()
                    .close();
            assertThat(last.get().terms().lease()).isEqualTo(Duration.ofSeconds(3));
            assertThat(last.get().terms().label()).isEqualTo("from the builder");
        }
        assertThat(closed).as("never closes what it was given").hasValue(0);
    }

    @Test
    void theBuilderCountsBeforeTheUrl() throws Exception {
        try (Lockkeeper holder = Lockkeeper.connect("memory:LockkeeperTestUrl");
                Lockkeeper fromUrl = Lockkeeper.connect("memory:LockkeeperTestUrl?patience=20s");
                Lockkeeper fromBuilder = Lockkeeper.builder("memory:LockkeeperTestUrl?patience=20s")
                        .patience(Duration.ofSeconds(40))
                        .build()) {
            assertThat(patienceOf(fromUrl)).isEqualTo(Duration.ofSeconds(20));
            assertThat(patienceOf(fromBuilder)).isEqualTo(Duration.ofSeconds(40));
            assertThat(patienceOf(holder)).isEqualTo(Duration.ofSeconds(10));
        }
    }

    private static Duration patienceOf(Lockkeeper keeper) throws ReflectiveOperationException {
        java.lang.reflect.Field primitives = Lockkeeper.class.getDeclaredField("primitives");
        primitives.setAccessible(true);
        Object p = primitives.get(keeper);
        java.lang.reflect.Field engine = p.getClass().getDeclaredField("keeper");
        engine.setAccessible(true);
        Object k = engine.get(p);
        java.lang.reflect.Field config = k.getClass().getDeclaredField("config");
        config.setAccessible(true);
        return ((io.lockkeeper.engine.Config) config.get(k)).patience();
    }

    @Test
    void theClientIsCalledHostAndPidUnlessItIsNamed() throws Exception {
        try (Lockkeeper keeper = Lockkeeper.connect("memory:");
                Lease lease = keeper.lock("x").acquire()) {
            assertThat(keeper.inspector().inspect("x").orElseThrow().holders())
                    .singleElement()
                    .satisfies(hold -> {
                        assertThat(hold.token()).isEqualTo(lease.token());
                        assertThat(hold.client())
                                .matches("[^:]+:" + ProcessHandle.current().pid());
                    });
        }
        try (Lockkeeper keeper =
                        Lockkeeper.builder("memory:").clientName("batch-7").build();
                Lease lease = keeper.lock("x").acquire()) {
            assertThat(lease.isValid()).isTrue();
            assertThat(keeper.inspector().inspect("x").orElseThrow().holders())
                    .extracting(LockInfo.Hold::client)
                    .containsExactly("batch-7");
        }
    }

    @Test
    void aFailedBeginningDoesNotCloseTheStoreItWasGiven() {
        AtomicInteger closed = new AtomicInteger();
        LockStore broken = (LockStore) Proxy.newProxyInstance(
                LockkeeperTest.class.getClassLoader(), new Class<?>[] {LockStore.class}, (proxy, method, args) -> {
                    if (method.getName().equals("close")) {
                        closed.incrementAndGet();
                        return null;
                    }
                    throw new StoreUnavailableException("nobody there", null);
                });
        assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(() -> Lockkeeper.on(broken));
        assertThat(closed).hasValue(0);
    }

    @Test
    void theTextNamesTheClientAndTheStoreAndNoSecret() {
        Lockkeeper keeper =
                Lockkeeper.builder("memory:hunter2").clientName("me").build();
        assertThat(keeper.toString()).contains("me").contains("MemoryStore").doesNotContain("hunter2");
        keeper.close();
        assertThat(keeper.toString()).contains("closed");
    }
}
