// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck.support;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.lockkeeper.DistributedLock;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.spi.LockStore;
import io.lockkeeper.spi.Terms;
import io.lockkeeper.testkit.FaultyStore;
import io.lockkeeper.testkit.Gate;
import io.lockkeeper.testkit.StepKind;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.function.BooleanSupplier;

/**
 * What the groups about handles, futures and callbacks share. Their leases last 30 s, and what must be free has to be free in
 * half that time: a hold that nobody released, and that only ended with its lease, fails the test.
 */
public abstract class HandleContract extends ApiContract {
    /** Shorter than the lease, so that waiting for the end of the lease is too late. */
    public static final Duration SOON = LONG.dividedBy(2);

    /** A step that is not answered is given up after this time, so that tests of outages are quick. */
    public static final Duration OPERATION = Duration.ofMillis(500);

    /** A lease that outlasts {@link #SOON}. */
    public static LockOptions outlasting() {
        return LockOptions.defaults().lease(LONG);
    }

    /** A keeper that gives up on an unreachable store soon. */
    protected final Lockkeeper impatient(LockStore store) {
        return closing(Lockkeeper.builder(store)
                .operationTimeout(OPERATION)
                .patience(Duration.ofSeconds(1))
                .build());
    }

    /** A keeper whose queued claims do not end by themselves while a test runs, so that a test sees what it leaves in the store. */
    protected final Lockkeeper enduring(LockStore store) {
        return closing(Lockkeeper.builder(store)
                .operationTimeout(OPERATION)
                .patience(LONG.multipliedBy(2))
                .build());
    }

    /** Waits until a condition holds, for less time than a lease lasts. */
    public static void soon(String what, BooleanSupplier condition) throws InterruptedException {
        within(SOON, what, condition);
    }

    private static void within(Duration time, String what, BooleanSupplier condition) throws InterruptedException {
        long deadline = System.nanoTime() + time.toNanos();
        await(what, () -> {
            boolean isSo = condition.getAsBoolean();
            assertThat(isSo || System.nanoTime() < deadline)
                    .as("before the lease ends: " + what)
                    .isTrue();
            return isSo;
        });
    }

    /** Waits until others can acquire the lock, for less time than a lease lasts. */
    public static void freeSoon(DistributedLock lock) throws InterruptedException {
        soon(lock.name() + " is free", () -> isFree(lock));
    }

    /**
     * Waits until others can acquire the lock, for less time than the first lease of a grant lasts that was handed over and
     * never confirmed: such a grant, if nobody released it, would be free soon.
     */
    public static void freeAtOnce(DistributedLock lock) throws InterruptedException {
        within(Terms.FIRST_LEASE.dividedBy(3).multipliedBy(2), lock.name() + " is free", () -> isFree(lock));
    }

    /** What a task or a future failed with; the test fails if it has not ended, or has succeeded. */
    public static Throwable failure(Future<?> future) {
        Throwable thrown = catchThrowable(() -> get(future));
        assertThat(thrown).as("it fails").isNotNull();
        Throwable cause = thrown.getCause();
        return thrown instanceof ExecutionException && cause != null ? cause : thrown;
    }

    /** Holds up the next step of this kind until the gate is opened, or the test ends. */
    protected final Gate gateBefore(FaultyStore store, StepKind kind) {
        Gate gate = store.pauseBefore(kind);
        closing(gate::open);
        return gate;
    }

    /** Holds up the answer to the next step of this kind until the gate is opened, or the test ends. */
    protected final Gate gateAfter(FaultyStore store, StepKind kind) {
        Gate gate = store.pauseAfter(kind);
        closing(gate::open);
        return gate;
    }

    public static void arrive(Gate gate) throws InterruptedException {
        assertThat(gate.awaitArrival(LONG)).as("the step came to the gate").isTrue();
    }

    /** Waits until a claim of this store waits for the holder of the name. */
    protected final void awaitBehind(FaultyStore store, Lockkeeper other, String name) throws InterruptedException {
        await("it has claimed " + name, () -> store.count(StepKind.CLAIM) > 0);
        awaitQueued(other, name, 1);
    }

    /** Blocks, as user code may, until the test opens the latch; an interrupt does not end it. */
    public static void block(CountDownLatch until) {
        boolean interrupted = false;
        for (; ; ) {
            try {
                until.await();
                break;
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** A latch that user code blocks on; open when the test ends. */
    protected final CountDownLatch blockage() {
        CountDownLatch latch = new CountDownLatch(1);
        closing(latch::countDown);
        return latch;
    }

    /** Throws anything, declared or not, as code in other languages does. */
    @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
    public static <E extends Throwable> RuntimeException sneak(Throwable any) throws E {
        throw (E) any;
    }

    /** Whether this Java has virtual threads. */
    public static boolean hasVirtualThreads() {
        return Runtime.version().feature() >= 21;
    }

    /** What runs on its own thread. */
    public interface Work<T> {
        T run() throws Exception;
    }

    /** Runs on a virtual thread, which this Java must have. */
    public static <T> CompletableFuture<T> onVirtualThread(Work<T> work) {
        CompletableFuture<T> result = new CompletableFuture<>();
        Runnable task = () -> {
            try {
                result.complete(work.run());
            } catch (Throwable e) {
                result.completeExceptionally(e);
            }
        };
        try {
            Method start = Thread.class.getMethod("startVirtualThread", Runnable.class);
            start.invoke(null, task);
        } catch (ReflectiveOperationException e) {
            throw new LinkageError("there are virtual threads from Java 21 on", e);
        }
        return result;
    }
}
