// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck.nemesis;

import io.lockkeeper.DeadlockException;
import io.lockkeeper.DistributedLock;
import io.lockkeeper.DistributedReadWriteLock;
import io.lockkeeper.Guarantee;
import io.lockkeeper.Lease;
import io.lockkeeper.LeaseLostException;
import io.lockkeeper.LockOptions;
import io.lockkeeper.testkit.history.HistoryMode;
import io.lockkeeper.testkit.history.RecordedReentry;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.TimeUnit;

/**
 * One thread of a {@link NemesisRun}: asks for locks and permits, each time in another way, and records what it gets.
 * Whatever fails because of what the nemesis does is excused; a claim that fails is left unanswered in the history, which
 * means that nothing is known of it.
 */
@SuppressWarnings("LockNotBeforeTry")
final class NemesisWorker implements Runnable {
    private final NemesisRun run;
    private final NemesisClient client;
    private final NemesisUse use;
    private final Random random;

    NemesisWorker(NemesisRun run, NemesisClient client, String name, Random random) {
        this.run = run;
        this.client = client;
        this.random = random;
        this.use = new NemesisUse(run, run.book.history.client(name), random);
    }

    @Override
    public void run() {
        while (run.isOn()) {
            try {
                once(client.current());
            } catch (InterruptedException e) {
                // the next attempt begins without the flag
            } catch (Exception | Error e) {
                run.excuse("an attempt", e);
            }
            Thread.interrupted();
        }
    }

    private void once(NemesisKeeper keeper) throws Exception {
        boolean shared = run.guarantees.has(Guarantee.SHARED);
        boolean permits = run.guarantees.has(Guarantee.PERMITS);
        NemesisRun.Names names = run.namesFor(client, random);
        int dice = random.nextInt(100);
        if (dice < 30) {
            String name = random.nextInt(3) > 0 ? names.first() : names.second();
            lock(keeper, keeper.keeper.lock(name, options()), HistoryMode.EXCLUSIVE);
        } else if (dice < 38) {
            multi(keeper, names);
        } else if (dice < 88 && shared) {
            readWrite(keeper, keeper.keeper.readWriteLock(names.readWrite(), options()));
        } else if (dice >= 88 && permits) {
            NemesisWish wish =
                    NemesisWish.permits(keeper, names.semaphore(), 1 + random.nextInt(NemesisRun.PERMITS), options());
            if (random.nextBoolean()) {
                use.handle(wish);
            } else {
                use.async(wish);
            }
        }
    }

    /** Few different ones, and one most of the time: holds are passed on only between threads with the same options. */
    private LockOptions options() {
        LockOptions kept = LockOptions.defaults().lease(run.lease);
        return switch (random.nextInt(12)) {
            case 0 -> LockOptions.defaults().fixedLease(run.fixedLease);
            case 1 -> kept.fair(true);
            case 2 -> kept.maxHold(run.lease.multipliedBy(2));
            default -> kept;
        };
    }

    private void lock(NemesisKeeper keeper, DistributedLock lock, HistoryMode mode) throws Exception {
        NemesisWish wish = NemesisWish.lock(keeper, lock, mode);
        switch (random.nextInt(4)) {
            case 0 -> use.handle(wish);
            case 1 -> use.async(wish);
            default -> threadStyle(lock, wish);
        }
    }

    /** Two names, sometimes of two keepers, of which one may be closed meanwhile. */
    private void multi(NemesisKeeper keeper, NemesisRun.Names names) throws Exception {
        NemesisKeeper other = random.nextInt(3) == 0 ? run.anyKeeper(random) : keeper;
        DistributedLock one = keeper.keeper.lock(names.first(), options());
        DistributedLock two = other.keeper.lock(names.second(), options());
        DistributedLock both = DistributedLock.all(one, two);
        NemesisWish wish = NemesisWish.lock(keeper, both, HistoryMode.EXCLUSIVE)
                .of(List.of(
                        new NemesisWish.Part(keeper, names.first(), HistoryMode.EXCLUSIVE, 1),
                        new NemesisWish.Part(other, names.second(), HistoryMode.EXCLUSIVE, 1)));
        switch (random.nextInt(3)) {
            case 0 -> use.handle(wish);
            case 1 -> use.async(wish);
            default -> threadStyle(both, wish);
        }
    }

    private void readWrite(NemesisKeeper keeper, DistributedReadWriteLock lock) throws Exception {
        switch (random.nextInt(8)) {
            case 0, 1, 2 -> downgrade(keeper, lock);
            case 3 -> upgrade(keeper, lock);
            case 4, 5 -> lock(keeper, lock.writeLock(), HistoryMode.EXCLUSIVE);
            default -> lock(keeper, lock.readLock(), HistoryMode.SHARED);
        }
    }

    // ---- java.util.concurrent style ----

    private void threadStyle(DistributedLock lock, NemesisWish wish) throws InterruptedException {
        List<NemesisBook.Entry> entries = use.begin(wish);
        if (!lock(lock)) {
            return;
        }
        Lease lease = lock.lease();
        try {
            use.granted(entries, lease);
            use.work(entries, lease);
            if (random.nextInt(4) == 0) {
                reenter(lock, entries, lease);
            }
        } finally {
            unlock(lock, entries);
        }
        if (lock.isHeldByCurrentThread()) {
            run.complain(lock + " is still held by a thread that has unlocked it as often as it had locked it");
        }
    }

    private boolean lock(DistributedLock lock) throws InterruptedException {
        try {
            switch (random.nextInt(4)) {
                case 0 -> lock.lock();
                case 1 -> lock.lockInterruptibly();
                case 2 -> {
                    return lock.tryLock();
                }
                default -> {
                    return lock.tryLock(random.nextInt(300), TimeUnit.MILLISECONDS);
                }
            }
            return true;
        } catch (LeaseLostException | IllegalMonitorStateException | DeadlockException e) {
            run.complain("a thread that holds nothing could not lock " + lock, e);
            return false;
        }
    }

    /** Enters once more, and leaves again. */
    private void reenter(DistributedLock lock, List<NemesisBook.Entry> entries, Lease lease) {
        boolean single = entries.size() == 1 && entries.get(0).isGranted();
        RecordedReentry reentry = single ? entries.get(0).claim.reenter() : null;
        try {
            lock.lock();
        } catch (LeaseLostException e) {
            return;
        }
        if (reentry != null) {
            reentry.ok(lock.lease().parts().get(0).token());
        }
        use.work(entries, lease);
        use.unlock(lock, single ? entries : List.of(), false);
    }

    private void unlock(DistributedLock lock, List<NemesisBook.Entry> entries) {
        use.unlock(lock, entries, true);
    }

    /** Write, read inside, stop writing, stop reading: the second reader's lease has no gap to the writer's. */
    private void downgrade(NemesisKeeper keeper, DistributedReadWriteLock both) throws InterruptedException {
        DistributedLock write = both.writeLock();
        DistributedLock read = both.readLock();
        List<NemesisBook.Entry> writer = use.begin(NemesisWish.lock(keeper, write, HistoryMode.EXCLUSIVE));
        if (!lock(write)) {
            return;
        }
        use.granted(writer, write.lease());
        use.work(writer, write.lease());
        try {
            read.lock();
        } catch (LeaseLostException e) {
            unlock(write, writer);
            return;
        }
        NemesisBook.Entry reader = writer.get(0).isGranted() ? writer.get(0).downgrading() : null;
        try {
            write.unlock();
            Lease lease = read.lease();
            if (reader != null && reader.granted(lease)) {
                use.work(List.of(reader), lease);
            }
        } catch (IllegalMonitorStateException e) {
            // lost
        } catch (RuntimeException | Error e) {
            run.excuse("a downgrade", e);
        }
        unlock(read, reader == null ? List.of() : List.of(reader));
        if (read.isHeldByCurrentThread() || write.isHeldByCurrentThread()) {
            run.complain(both + " is still held by a thread that has downgraded and unlocked it");
        }
    }

    /** A reader that wants to write would wait for itself: it is refused at once. */
    private void upgrade(NemesisKeeper keeper, DistributedReadWriteLock both) throws InterruptedException {
        DistributedLock read = both.readLock();
        List<NemesisBook.Entry> reader = use.begin(NemesisWish.lock(keeper, read, HistoryMode.SHARED));
        if (!lock(read)) {
            return;
        }
        use.granted(reader, read.lease());
        try {
            DistributedLock write = both.writeLock();
            boolean upgraded =
                    switch (random.nextInt(3)) {
                        case 0 -> write.tryLock();
                        case 1 -> write.tryLock(random.nextInt(50), TimeUnit.MILLISECONDS);
                        default -> {
                            write.lock();
                            yield true;
                        }
                    };
            if (upgraded) {
                run.complain("a thread that reads " + both + " was allowed to write it");
                write.unlock();
            }
        } catch (DeadlockException | LeaseLostException e) {
            // refused
        } catch (InterruptedException e) {
            // refused, or interrupted before
        } finally {
            unlock(read, reader);
        }
    }

    /** The waits that have an end. */
    static Duration shortWait(Random random) {
        return Duration.ofMillis(random.nextInt(300));
    }

    /** The result of an attempt that may give nothing. */
    interface Attempt {
        Optional<Lease> within(Duration wait) throws InterruptedException;
    }
}
