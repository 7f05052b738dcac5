// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck.support;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.DistributedLock;
import io.lockkeeper.Lease;
import io.lockkeeper.LeaseLost;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.Mode;
import io.lockkeeper.spi.Claim;
import io.lockkeeper.spi.ClaimId;
import io.lockkeeper.spi.LockStore;
import io.lockkeeper.spi.Terms;
import io.lockkeeper.testkit.FaultyStore;
import io.lockkeeper.testkit.Gate;
import io.lockkeeper.testkit.StepKind;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** What the groups about time and faults share: leases that the store can keep, witnesses of validity, gates that open. */
public abstract class FaultContract extends Contract {
    private final List<Lease> held = new CopyOnWriteArrayList<>();
    private @Nullable Duration shortest;

    /** A client that has acquired, and when it knew. */
    public record Entry(Lease lease, long at) {}

    /** This many milliseconds, or more where the store cannot keep so short a lease. */
    protected final Duration atLeast(long millis) {
        if (shortest == null) {
            shortest = store().guarantees().shortestLease();
        }
        Duration wished = Duration.ofMillis(millis);
        return wished.compareTo(shortest) < 0 ? shortest : wished;
    }

    /** The shortest lease that is kept alive, for a hold that is to be lost. */
    protected final LockOptions kept() {
        return LockOptions.defaults().lease(atLeast(1_000));
    }

    /** A short lease that is kept alive also on a busy machine, for a hold that is not to be lost. */
    protected final LockOptions keptSafely() {
        return LockOptions.defaults().lease(atLeast(2_500));
    }

    /** A lease that ends after about this long. */
    protected final LockOptions fixed(long millis) {
        return LockOptions.defaults().fixedLease(atLeast(millis));
    }

    /** A lease that does not end by itself while a test runs. */
    public static LockOptions longLease() {
        return LockOptions.defaults().lease(Duration.ofHours(1));
    }

    /** A keeper on this connection, built with these settings. */
    protected final Lockkeeper keeper(LockStore store, UnaryOperator<Lockkeeper.Builder> how) {
        return closing(how.apply(Lockkeeper.builder(store)).build());
    }

    /** Holds up the next step of this kind until the gate is opened, or the test ends. */
    protected final Gate pauseBefore(FaultyStore store, StepKind kind) {
        Gate gate = store.pauseBefore(kind);
        closing(gate::open);
        return gate;
    }

    /** Holds up the answer to the next step of this kind until the gate is opened, or the test ends. */
    protected final Gate pauseAfter(FaultyStore store, StepKind kind) {
        Gate gate = store.pauseAfter(kind);
        closing(gate::open);
        return gate;
    }

    public static void awaitArrival(Gate gate) throws InterruptedException {
        assertThat(gate.awaitArrival(LONG)).as("the step came to the gate").isTrue();
    }

    /** Takes a lock and keeps the lease, so that it does not become unreachable before the test ends. */
    protected final Lease hold(DistributedLock lock) throws InterruptedException {
        Lease lease = lock.tryAcquire(LONG).orElseThrow(() -> new AssertionError(lock.name() + " is not free"));
        held.add(lease);
        return lease;
    }

    /** The loss of a lease, once it is reported. */
    public static CompletableFuture<LeaseLost> lossOf(Lease lease) {
        CompletableFuture<LeaseLost> loss = new CompletableFuture<>();
        lease.onLost(loss::complete);
        return loss;
    }

    /** Looks at a lease until it is not valid; returns the last moment after which it was seen to be valid. */
    protected final Future<Long> lastValid(Lease lease) {
        return async(() -> {
            long last = System.nanoTime();
            for (long now = last; lease.isValid(); now = System.nanoTime()) {
                last = now;
                LockSupport.parkNanos(100_000);
            }
            return last;
        });
    }

    /** Tries to acquire again and again, until it succeeds. */
    protected final Future<Entry> enter(DistributedLock lock) {
        return async(() -> {
            while (!Thread.currentThread().isInterrupted()) {
                Optional<Lease> lease = lock.tryAcquire();
                if (lease.isPresent()) {
                    held.add(lease.get());
                    return new Entry(lease.get(), System.nanoTime());
                }
                LockSupport.parkNanos(200_000);
            }
            throw new InterruptedException();
        });
    }

    /** Waits in the queue until it acquires. */
    protected final Future<Entry> queue(DistributedLock lock) throws InterruptedException {
        AtomicReference<Thread> thread = new AtomicReference<>();
        Future<Entry> entering = async(() -> {
            thread.set(Thread.currentThread());
            Lease lease = lock.acquire();
            held.add(lease);
            return new Entry(lease, System.nanoTime());
        });
        await("it waits", () -> entering.isDone() || isWaiting(thread.get()));
        return entering;
    }

    private static boolean isWaiting(@Nullable Thread thread) {
        return thread != null
                && (thread.getState() == Thread.State.WAITING || thread.getState() == Thread.State.TIMED_WAITING);
    }

    /** Asserts that this much time has passed between two moments, except for what clocks may differ by. */
    public static void assertPassed(String what, long from, long to, Duration atLeast) {
        assertThat(Duration.ofNanos(to - from))
                .as(what)
                .isGreaterThanOrEqualTo(atLeast.minus(atLeast.dividedBy(50)).minusMillis(1));
    }

    /** Waits until this much time has passed, where there is nothing else to wait for. */
    public static void awaitPassed(long from, Duration time) throws InterruptedException {
        await(time + " have passed", () -> System.nanoTime() - from >= time.toNanos());
    }

    /** A claim of a new client. */
    public static Claim claim(LockStore store, String name, Duration lease, boolean queue) {
        Terms terms =
                new Terms(Mode.EXCLUSIVE, 1, 0, lease, Duration.ZERO, Duration.ofSeconds(10), 1, queue, "tck", "tck");
        ClaimId id = new ClaimId(UUID.randomUUID().toString(), 1);
        return new Claim(name, id, terms, store.time(store.lane(name)).plusMicros(30_000_000), false);
    }
}
