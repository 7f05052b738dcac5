// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck.support;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.DistributedLock;
import io.lockkeeper.Guarantee;
import io.lockkeeper.Lease;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.spi.LockStore;
import io.lockkeeper.tck.StoreFixture;
import io.lockkeeper.testkit.FaultyStore;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceLock;

/**
 * What all groups of the contract need: clients that are closed after each test, names that no other test uses, threads,
 * and waiting for conditions. Deadlines are generous, for busy machines; nothing is asserted about speed.
 */
@SuppressWarnings("LockNotBeforeTry")
@Execution(ExecutionMode.CONCURRENT)
@ResourceLock(providers = OneAfterTheOther.class)
public abstract class Contract {
    /** Longer than anything that a test expects; what takes this long has failed. */
    public static final Duration LONG = Duration.ofSeconds(30);

    private static final AtomicLong COUNTER = new AtomicLong();

    private final Deque<AutoCloseable> toClose = new ArrayDeque<>();
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private String prefix = "";
    private @Nullable StoreFixture fixture;

    /** The store under test. */
    protected final StoreFixture fixture() {
        return requireNonNull(fixture, "the store under test is given before each test");
    }

    /** Sets the store under test, before each test. */
    public final void testOn(StoreFixture store) {
        fixture = store;
    }

    @BeforeEach
    protected final void begin(TestInfo test) {
        prefix = test.getTestMethod().map(m -> m.getName()).orElse("test") + "-" + COUNTER.incrementAndGet() + "-"
                + Long.toHexString(System.nanoTime());
    }

    @AfterEach
    protected final void end() throws Exception {
        threads.shutdownNow();
        while (!toClose.isEmpty()) {
            toClose.pop().close();
        }
        assertThat(threads.awaitTermination(LONG.toSeconds(), TimeUnit.SECONDS))
                .as("all threads of the test have ended")
                .isTrue();
    }

    /** A name that only this test uses. */
    protected final String name() {
        return name("x");
    }

    /** One of several names that only this test uses. */
    protected final String name(String what) {
        return prefix + "-" + what;
    }

    /** Closes something when the test ends, in reverse order. */
    protected final <T extends AutoCloseable> T closing(T closeable) {
        synchronized (toClose) {
            toClose.push(closeable);
        }
        return closeable;
    }

    /** A new connection. */
    protected final LockStore store() {
        return closing(fixture().connect());
    }

    /** A new connection that fails on request. */
    protected final FaultyStore faulty() {
        return FaultyStore.on(store());
    }

    /** A keeper on its own connection. */
    protected final Lockkeeper keeper() {
        return keeper(store());
    }

    /** A keeper on this connection. */
    protected final Lockkeeper keeper(LockStore store) {
        return closing(Lockkeeper.on(store));
    }

    /** The shortest lease that is kept alive, so that a test that waits for its end does not take long. */
    public static LockOptions shortLease() {
        return LockOptions.defaults().lease(Duration.ofSeconds(1));
    }

    /** Runs on another thread. */
    protected final <T> Future<T> async(Callable<T> task) {
        return threads.submit(task);
    }

    /** The result of a task on another thread. */
    public static <T> T get(Future<T> future) throws Exception {
        return future.get(LONG.toSeconds(), TimeUnit.SECONDS);
    }

    /** Waits until a condition holds; fails if it does not within {@link #LONG}. */
    public static void await(String what, BooleanSupplier condition) throws InterruptedException {
        long deadline = System.nanoTime() + LONG.toNanos();
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime()).as("in time: " + what).isLessThan(deadline);
            Pauses.betweenLooks(2);
        }
    }

    /**
     * Waits until a condition holds while garbage is collected now and then. All threads of this process stand still meanwhile, so
     * for a tenth of the time at most: other tests in this process have leases to renew.
     */
    public static void awaitCollecting(String what, BooleanSupplier condition) throws InterruptedException {
        AtomicLong next = new AtomicLong(System.nanoTime());
        await(what, () -> {
            long begin = System.nanoTime();
            if (begin - next.get() >= 0) {
                System.gc();
                long end = System.nanoTime();
                next.set(end + 10 * (end - begin));
            }
            return condition.getAsBoolean();
        });
    }

    /** Waits until this many claims are queued for a name; ends the test if the store has no queue. */
    protected final void awaitWaiters(Lockkeeper keeper, String name, int waiters) throws InterruptedException {
        Promise.needed(keeper.guarantees(), Guarantee.FAIR);
        await(waiters + " waiters for " + name, () -> keeper.inspector()
                .inspect(name)
                .filter(info -> info.waiters() == waiters)
                .isPresent());
    }

    /** How long the holder of a name still has it, according to the store: {@link Lease#remaining} may be less, as a session is. */
    protected final Duration expiresIn(String name) {
        return keeper().inspector().inspect(name).orElseThrow().holders().get(0).expiresIn();
    }

    /** Whether nobody holds the lock: acquires and releases it. */
    public static boolean isFree(DistributedLock lock) {
        return lock.tryAcquire().map(Lease::release).orElse(false);
    }
}
