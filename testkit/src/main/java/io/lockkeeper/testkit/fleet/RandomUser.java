// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testkit.fleet;

import io.lockkeeper.DistributedLock;
import io.lockkeeper.DistributedReadWriteLock;
import io.lockkeeper.Guarantee;
import io.lockkeeper.Guarantees;
import io.lockkeeper.Lease;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.Mode;
import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.testkit.history.HistoryMode;
import io.lockkeeper.testkit.history.RecordedClaim;
import io.lockkeeper.testkit.history.RecordedClient;
import io.lockkeeper.testkit.history.RecordedReentry;
import io.lockkeeper.testkit.history.RecordedStep;
import java.time.Duration;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** One thread that uses locks: it acquires, works and releases, each time in another way, and records it. */
@SuppressWarnings("LockNotBeforeTry")
public final class RandomUser implements Callable<Object> {
    private static final Duration KEPT_ALIVE = Duration.ofSeconds(1);
    private static final Duration FIXED = Duration.ofMillis(300);

    private final Load load;
    private final Lockkeeper keeper;
    private final RecordedClient client;
    private final Random random;
    private final boolean fails;

    /**
     * A user.
     *
     * @param name by which it is recorded
     * @param fails whether the store may be unavailable now and then
     */
    public RandomUser(Load load, Lockkeeper keeper, String name, Random random, boolean fails) {
        this.load = load;
        this.keeper = keeper;
        this.client = load.history().client(name);
        this.random = random;
        this.fails = fails;
    }

    /** An attempt to acquire that may wait. */
    private interface Attempt {
        Optional<Lease> within(Duration wait) throws InterruptedException;
    }

    @Override
    public Object call() throws InterruptedException {
        boolean shared = load.guarantees().has(Guarantee.SHARED);
        boolean permits = load.guarantees().has(Guarantee.PERMITS);
        while (load.next()) {
            int dice = random.nextInt(100);
            DistributedLock lock = keeper.lock(load.lock(), options());
            if (dice < 20) {
                handle(client.acquire(load.lock(), HistoryMode.EXCLUSIVE), lock::tryAcquire, lock::tryAcquire);
            } else if (dice < 32) {
                async(client.acquire(load.lock(), HistoryMode.EXCLUSIVE), lock.acquireAsync());
            } else if (dice < 45) {
                threadStyle(lock);
            } else if (dice < 75 && shared) {
                readWrite(keeper.readWriteLock(load.readWriteLock(), options()));
            } else if (dice < 100 && permits) {
                permits();
            }
        }
        return load;
    }

    private LockOptions options() {
        LockOptions options =
                switch (random.nextInt(6)) {
                    case 0, 1 -> LockOptions.defaults().fixedLease(longEnough(FIXED, load.guarantees()));
                    case 2 -> keptAlive(load.guarantees()).fair(true);
                    default -> keptAlive(load.guarantees());
                };
        return options;
    }

    /** With a kept-alive lease as users have, which every store of a fleet allows. */
    static LockOptions keptAlive(Guarantees guarantees) {
        return LockOptions.defaults().lease(longEnough(KEPT_ALIVE, guarantees));
    }

    private static Duration longEnough(Duration lease, Guarantees guarantees) {
        Duration shortest = guarantees.shortestLease();
        return lease.compareTo(shortest) < 0 ? shortest : lease;
    }

    // ---- Ways to acquire ----

    private void permits() throws InterruptedException {
        int permits = 1 + random.nextInt(load.permits());
        var semaphore = keeper.semaphore(load.semaphore(), load.permits(), options());
        RecordedClaim claim = client.acquirePermits(load.semaphore(), permits);
        if (random.nextInt(4) == 0) {
            async(claim, semaphore.acquireAsync(permits));
        } else {
            handle(claim, () -> semaphore.tryAcquire(permits), wait -> semaphore.tryAcquire(permits, wait));
        }
    }

    private void readWrite(DistributedReadWriteLock lock) throws InterruptedException {
        DistributedLock read = lock.readLock();
        DistributedLock write = lock.writeLock();
        switch (random.nextInt(8)) {
            case 0 -> async(client.acquire(load.readWriteLock(), HistoryMode.SHARED), read.acquireAsync());
            case 1, 2 -> downgrade(read, write);
            case 3, 4 ->
                handle(
                        client.acquire(load.readWriteLock(), HistoryMode.EXCLUSIVE),
                        write::tryAcquire,
                        write::tryAcquire);
            default ->
                handle(client.acquire(load.readWriteLock(), HistoryMode.SHARED), read::tryAcquire, read::tryAcquire);
        }
    }

    /** Once, for a while, or until it is had. */
    private void handle(RecordedClaim claim, Supplier<Optional<Lease>> once, Attempt attempt)
            throws InterruptedException {
        int dice = random.nextInt(10);
        boolean patient = dice > 4;
        Duration wait = patient ? load.patient() : Duration.ofMillis(random.nextInt(60));
        due(claim, wait, patient);
        Optional<Lease> lease;
        try {
            lease = dice == 0 ? once.get() : attempt.within(wait);
        } catch (StoreUnavailableException e) {
            unavailable(e);
            claim.info();
            return;
        }
        if (lease.isEmpty()) {
            claim.fail();
        } else {
            use(claim, lease.get());
        }
    }

    /** A future; given up when it takes too long. */
    private void async(RecordedClaim claim, CompletableFuture<Lease> future) throws InterruptedException {
        boolean patient = random.nextInt(2) == 0;
        Duration wait = patient ? load.patient() : Duration.ofMillis(random.nextInt(30));
        due(claim, wait, patient);
        Lease lease;
        try {
            lease = future.get(wait.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            if (future.cancel(true)) {
                claim.fail();
                return;
            }
            lease = future.join(); // it came at the last moment
        } catch (ExecutionException e) {
            if (e.getCause() instanceof StoreUnavailableException unavailable) {
                unavailable(unavailable);
            } else {
                load.complain(claim.operation() + " ended with " + e.getCause());
            }
            claim.info();
            return;
        }
        use(claim, lease);
    }

    private void due(RecordedClaim claim, Duration wait, boolean granted) {
        long by = load.history().now() + wait.toNanos();
        if (granted && !fails) {
            claim.grantedBy(by);
        } else {
            claim.answeredBy(by);
        }
    }

    private void threadStyle(DistributedLock lock) throws InterruptedException {
        RecordedClaim claim = client.acquire(load.lock(), HistoryMode.EXCLUSIVE);
        Lease lease = lock(claim, lock);
        if (lease == null) {
            return;
        }
        work(claim, lease);
        boolean again = random.nextInt(3) == 0;
        if (again) {
            RecordedReentry reentry = claim.reenter();
            try {
                lock.lock();
                reentry.ok(lock.lease().token());
            } catch (RuntimeException lost) {
                reentry.fail();
                again = false;
            }
        }
        if (again) {
            work(claim, lease);
            unlock(claim, lock);
        }
        unlock(claim, lock);
    }

    private void downgrade(DistributedLock read, DistributedLock write) throws InterruptedException {
        RecordedClaim claim = client.acquire(load.readWriteLock(), HistoryMode.EXCLUSIVE);
        Lease lease = lock(claim, write);
        if (lease == null) {
            return;
        }
        work(claim, lease);
        try {
            read.lock();
        } catch (RuntimeException lost) {
            unlock(claim, write);
            return;
        }
        boolean valid = lease.isValid();
        RecordedClaim reader = claim.downgrade();
        try {
            write.unlock();
            Lease shared = read.lease();
            ok(reader, shared);
            work(reader, shared);
        } catch (IllegalMonitorStateException lost) {
            // The store may have carried it out, and its answer been lost until the lease had ended.
            if (valid) {
                reader.info();
            } else {
                reader.fail();
            }
        } catch (StoreUnavailableException e) {
            unavailable(e);
            reader.info();
        }
        unlock(reader, read);
    }

    private @Nullable Lease lock(RecordedClaim claim, DistributedLock lock) throws InterruptedException {
        boolean patient = random.nextInt(2) == 0;
        Duration wait = patient ? load.patient() : Duration.ofMillis(random.nextInt(60));
        due(claim, wait, patient);
        try {
            if (!lock.tryLock(wait.toMillis(), TimeUnit.MILLISECONDS)) {
                claim.fail();
                return null;
            }
        } catch (StoreUnavailableException e) {
            unavailable(e);
            claim.info();
            return null;
        }
        Lease lease = lock.lease();
        ok(claim, lease);
        return lease;
    }

    private void unlock(RecordedClaim claim, DistributedLock lock) {
        boolean valid = lock.lease().isValid();
        RecordedStep release = claim.release();
        try {
            lock.unlock();
            release.ok();
        } catch (IllegalMonitorStateException lost) {
            released(release, false, valid);
        } catch (StoreUnavailableException e) {
            unavailable(e);
            release.info();
        }
    }

    // ---- What is done with a lease ----

    private void use(RecordedClaim claim, Lease lease) throws InterruptedException {
        ok(claim, lease);
        work(claim, lease);
        boolean valid = lease.isValid();
        RecordedStep release = claim.release();
        try {
            released(release, lease.release(), valid);
        } catch (StoreUnavailableException e) {
            unavailable(e);
            release.info();
        }
    }

    /**
     * A release that was valid when it began, and is then said to have found nothing, may have been done by a copy of it
     * whose answer was lost; unless there was nothing to lose answers.
     */
    private void released(RecordedStep release, boolean found, boolean wasValid) {
        if (!found && wasValid && fails) {
            release.info();
        } else {
            release.okOrFail(found);
        }
    }

    private void ok(RecordedClaim claim, Lease lease) {
        long now = load.history().now();
        Duration remaining = lease.remaining();
        if (remaining.isZero()) {
            claim.okButOver(lease.token());
        } else {
            claim.ok(lease.token(), now + remaining.toNanos());
        }
        lease.onLost(loss -> claim.lost());
    }

    private void work(RecordedClaim claim, Lease lease) throws InterruptedException {
        write(lease);
        for (int rounds = rounds(); rounds > 0; rounds--) {
            TimeUnit.MICROSECONDS.sleep(random.nextInt(2_000));
            long now = load.history().now();
            Duration remaining = lease.remaining();
            if (!remaining.isZero()) {
                claim.extended(now + remaining.toNanos());
            }
        }
        write(lease);
    }

    /** Mostly short, sometimes beyond a fixed lease. */
    private int rounds() {
        int dice = random.nextInt(300);
        return dice == 0 ? 350 : dice < 4 ? 100 : dice < 100 ? 1 : 0;
    }

    private void write(Lease lease) {
        if (lease.mode() != Mode.PERMITS) {
            HistoryMode mode = lease.mode() == Mode.SHARED ? HistoryMode.SHARED : HistoryMode.EXCLUSIVE;
            boolean accepted = load.write(lease.name(), mode, lease.token());
            boolean isDue = load.isExclusive() && load.guarantees().has(Guarantee.FENCED);
            if (!accepted && isDue && lease.isValid()) {
                load.complain("a write with " + lease + " was refused as stale");
            }
        }
    }

    private void unavailable(StoreUnavailableException e) {
        if (!fails) {
            load.complain("a store that does not fail was called unavailable: " + e);
        }
    }
}
