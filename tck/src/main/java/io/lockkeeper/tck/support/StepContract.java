// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck.support;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lockkeeper.Guarantee;
import io.lockkeeper.Guarantees;
import io.lockkeeper.Lease;
import io.lockkeeper.LockInfo;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.Mode;
import io.lockkeeper.spi.LockStore;
import io.lockkeeper.spi.Terms;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Timeout;

/** What the groups need that look at single steps: clients without an engine, terms of claims, attempts of threads. */
@Timeout(value = 2, unit = TimeUnit.MINUTES) // a test of a broken store may wait forever
public abstract class StepContract extends Contract {
    /** A patience with which nothing is refreshed, and no waiter looks again by itself, while a test runs. */
    public static final Duration VERY_PATIENT = Duration.ofHours(1);

    /** No lease of this length ends while a test runs. */
    public static final Duration VERY_LONG = Duration.ofMinutes(10);

    private @Nullable LockStore looking;

    /** A client that makes single steps. */
    protected final SpiClient client() {
        return closing(new SpiClient(store()));
    }

    /** A keeper that waits for this long without looking again. */
    protected final Lockkeeper patient(LockStore store, Duration patience) {
        return closing(Lockkeeper.builder(store).patience(patience).build());
    }

    /** A thread that tries to acquire a lease; it ends with the test. */
    protected final Attempt attempt(Callable<Lease> acquire) {
        return closing(Attempt.at(() -> Optional.of(acquire.call())));
    }

    /** A thread that tries to acquire a lease and may not get it. */
    protected final Attempt attemptToTry(Callable<Optional<Lease>> tryAcquire) {
        return closing(Attempt.at(tryAcquire));
    }

    /** A connection that only looks, so that looking is not counted or disturbed. */
    private LockStore looking() {
        if (looking == null) {
            looking = store();
        }
        return looking;
    }

    protected final Guarantees guarantees() {
        return looking().guarantees();
    }

    protected final Optional<LockInfo> inspect(String name) {
        return looking().inspect(name);
    }

    /** The number of claims queued for a name. */
    protected final int waiters(String name) {
        return inspect(name).map(LockInfo::waiters).orElse(0);
    }

    /** The tokens of those who hold a name. */
    protected final long[] holders(String name) {
        return inspect(name).stream()
                .flatMap(info -> info.holders().stream())
                .mapToLong(LockInfo.Hold::token)
                .toArray();
    }

    /** Waits until this many claims are queued for a name. */
    protected final void awaitWaiters(String name, int waiters) throws InterruptedException {
        needsQueue();
        await(waiters + " waiters for " + name, () -> waiters(name) == waiters);
    }

    /** Waits until nobody holds or awaits a name. */
    protected final void awaitIdle(String name) throws InterruptedException {
        await("nobody holds or awaits " + name, () -> inspect(name).isEmpty());
    }

    /** Asserts that the store has nothing under a name. */
    protected final void assertIdle(String name) {
        assertThat(inspect(name)).as("nothing is left of " + name).isEmpty();
    }

    /** A short lease, as short as the store allows. */
    protected final Duration millis(long millis) {
        Duration wanted = Duration.ofMillis(millis);
        Duration shortest = guarantees().shortestLease();
        return wanted.compareTo(shortest) < 0 ? shortest : wanted;
    }

    protected final LockOptions fixed(long millis) {
        return LockOptions.defaults().fixedLease(millis(millis));
    }

    public static LockOptions veryLong() {
        return LockOptions.defaults().lease(VERY_LONG);
    }

    /** Ends the test if the store is not fair, and so has no queue to look at. */
    protected final void needsQueue() {
        Promise.needed(guarantees(), Guarantee.FAIR);
    }

    /** If the store does not have this mode, checks that it refuses it, and ends the test. */
    protected final void needs(Mode mode) {
        Lockkeeper keeper = keeper();
        if (mode == Mode.SHARED && !guarantees().has(Guarantee.SHARED)) {
            assertThatThrownBy(() -> keeper.readWriteLock(name())).isInstanceOf(UnsupportedOperationException.class);
            Promise.needed(guarantees(), Guarantee.SHARED);
        }
        if (mode == Mode.PERMITS && !guarantees().has(Guarantee.PERMITS)) {
            assertThatThrownBy(() -> keeper.semaphore(name(), 2)).isInstanceOf(UnsupportedOperationException.class);
            Promise.needed(guarantees(), Guarantee.PERMITS);
        }
    }

    // ---- Terms of claims ----

    public static Terms exclusive() {
        return terms(Mode.EXCLUSIVE, 1, 0);
    }

    public static Terms shared() {
        return terms(Mode.SHARED, 1, 0);
    }

    public static Terms permits(int permits, int limit) {
        return terms(Mode.PERMITS, permits, limit);
    }

    /** Terms of a claim in this mode that conflicts with others of the same terms. */
    public static Terms conflicting(Mode mode) {
        return mode == Mode.PERMITS ? permits(2, 2) : exclusive();
    }

    private static Terms terms(Mode mode, int permits, int limit) {
        int block = mode == Mode.PERMITS ? 1 : 64;
        return new Terms(mode, permits, limit, VERY_LONG, Duration.ZERO, VERY_PATIENT, block, true, "tck", "");
    }

    public static Terms lasting(Terms t, Duration lease) {
        return with(t, lease, t.lockDelay(), t.patience(), t.block(), t.queue());
    }

    public static Terms delaying(Terms t, Duration lockDelay) {
        return with(t, t.lease(), lockDelay, t.patience(), t.block(), t.queue());
    }

    public static Terms waiting(Terms t, Duration patience) {
        return with(t, t.lease(), t.lockDelay(), patience, t.block(), t.queue());
    }

    public static Terms withBlock(Terms t, int block) {
        return with(t, t.lease(), t.lockDelay(), t.patience(), block, t.queue());
    }

    public static Terms trying(Terms t) {
        return with(t, t.lease(), t.lockDelay(), t.patience(), t.block(), false);
    }

    private static Terms with(
            Terms t, Duration lease, Duration lockDelay, Duration patience, int block, boolean queue) {
        return new Terms(
                t.mode(), t.permits(), t.limit(), lease, lockDelay, patience, block, queue, t.client(), t.label());
    }
}
