// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.engine;

import io.lockkeeper.DistributedLock;
import io.lockkeeper.Lease;
import io.lockkeeper.LeaseLostException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Several locks as one, taken in one global order: by name, then by the id that each store keeps of itself. All who take more
 * than one lock this way take them in the same order, so that they cannot wait for each other in a circle. Every way to take
 * them is a {@link MultiAcquisition}, awaited or not. See {@link DistributedLock#all}.
 */
public final class MultiLock extends AbstractLock {
    private final List<KeeperLock> members;

    private MultiLock(List<KeeperLock> members) {
        this.members = members;
    }

    /** See {@link DistributedLock#all}. */
    public static DistributedLock of(DistributedLock... locks) {
        List<KeeperLock> members = new ArrayList<>();
        for (DistributedLock lock : locks) {
            if (Objects.requireNonNull(lock, "lock") instanceof MultiLock multi) {
                members.addAll(multi.members);
            } else if (lock instanceof KeeperLock single) {
                members.add(single);
            } else {
                throw new IllegalArgumentException(lock.getClass().getName() + " is no lock of a Lockkeeper");
            }
        }
        if (members.isEmpty()) {
            throw new IllegalArgumentException("no locks; allowed is at least one");
        }
        Set<List<String>> seen = new HashSet<>();
        for (KeeperLock member : members) {
            if (!seen.add(List.of(member.name(), storeId(member)))) {
                throw new IllegalArgumentException(Printable.quoted(member.name())
                        + " is there twice; a name of a store can be taken once, in one mode");
            }
        }
        members.sort(Comparator.comparing(KeeperLock::name).thenComparing(MultiLock::storeId));
        return members.size() == 1 ? members.get(0) : new MultiLock(List.copyOf(members));
    }

    private static String storeId(KeeperLock lock) {
        return lock.keeper().storeId();
    }

    @Override
    public String name() {
        return members.stream().map(KeeperLock::name).collect(Collectors.joining(" + "));
    }

    private Lease lease(List<LeaseHandle> parts) {
        return new MultiLease(name(), parts);
    }

    // ---- Handles ----

    @Override
    public Lease acquire() throws InterruptedException {
        members.forEach(KeeperLock::refuseToWaitForMyself);
        return lease(Objects.requireNonNull(take(members, null, Acquisition.FOREVER, true)));
    }

    @Override
    public Optional<Lease> tryAcquire() {
        return Optional.ofNullable(takeUninterruptibly(members, null, 0)).map(this::lease);
    }

    @Override
    public Optional<Lease> tryAcquire(Duration wait) throws InterruptedException {
        return Optional.ofNullable(take(members, null, Checks.waitNanos(wait), true))
                .map(this::lease);
    }

    @Override
    public CompletableFuture<Lease> acquireAsync() {
        return future(Acquisition.FOREVER, parts -> lease(Objects.requireNonNull(parts)));
    }

    @Override
    public CompletableFuture<Optional<Lease>> tryAcquireAsync(Duration wait) {
        return future(
                Checks.waitNanos(wait), parts -> Optional.ofNullable(parts).map(this::lease));
    }

    private <T> CompletableFuture<T> future(long waitNanos, Function<@Nullable List<LeaseHandle>, T> value) {
        members.forEach(member -> member.keeper().ensureOpen());
        CompletableFuture<T> future = new CompletableFuture<>();
        MultiAcquisition acquisition = new MultiAcquisition(members, null, waitNanos);
        future.whenComplete((v, failure) -> acquisition.abandon());
        Events events = members.get(0).keeper().events();
        acquisition.begin().whenComplete((parts, failure) -> {
            if (failure != null) {
                events.run(() -> future.completeExceptionally(failure));
            } else if (parts != null) {
                events.handOver(
                        () -> {
                            if (!future.complete(value.apply(parts))) {
                                release(parts);
                            }
                        },
                        () -> {
                            release(parts);
                            future.completeExceptionally(Acquisition.shutDown(name()));
                        });
            } else if (!future.isDone()) { // otherwise it was abandoned
                events.run(() -> future.complete(value.apply(null)));
            }
        });
        return future;
    }

    private static void release(List<LeaseHandle> parts) {
        parts.forEach(LeaseHandle::releaseInBackground);
    }

    // ---- Waiting on the caller's thread ----

    /** Takes some of the members; null when not all were acquired. */
    private static @Nullable List<LeaseHandle> take(
            List<KeeperLock> wanted, @Nullable Thread owner, long waitNanos, boolean interruptible)
            throws InterruptedException {
        if (interruptible && Thread.interrupted()) {
            throw new InterruptedException();
        }
        MultiAcquisition acquisition = new MultiAcquisition(wanted, owner, waitNanos);
        CompletableFuture<@Nullable List<LeaseHandle>> result = acquisition.begin();
        boolean interrupted = false;
        try {
            for (; ; ) {
                try {
                    return result.get();
                } catch (InterruptedException e) {
                    if (interruptible && !interrupted && acquisition.abandon()) {
                        result.handle((parts, failure) -> true).join(); // until what had come is released
                        throw e;
                    }
                    interrupted = true; // uninterruptible, or it ended at that instant: take what there is
                } catch (ExecutionException e) {
                    throw Lane.<RuntimeException>rethrow(e.getCause() == null ? e : e.getCause());
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private static @Nullable List<LeaseHandle> takeUninterruptibly(
            List<KeeperLock> wanted, @Nullable Thread owner, long waitNanos) {
        try {
            return take(wanted, owner, waitNanos, false);
        } catch (InterruptedException e) {
            throw new AssertionError("an uninterruptible wait was interrupted", e);
        }
    }

    // ---- java.util.concurrent: what this thread holds already is entered again, the rest is taken ----

    @Override
    public void lock() {
        try {
            lock(Acquisition.FOREVER, false);
        } catch (InterruptedException e) {
            throw new AssertionError("an uninterruptible wait was interrupted", e);
        }
    }

    @Override
    public void lockInterruptibly() throws InterruptedException {
        lock(Acquisition.FOREVER, true);
    }

    @Override
    public boolean tryLock() {
        try {
            return members.stream().noneMatch(KeeperLock::wouldUpgrade) && lock(0, false);
        } catch (InterruptedException e) {
            throw new AssertionError("an uninterruptible wait was interrupted", e);
        }
    }

    @Override
    boolean tryLock(long waitNanos) throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        return members.stream().noneMatch(KeeperLock::wouldUpgrade) && lock(waitNanos, true);
    }

    private boolean lock(long waitNanos, boolean interruptible) throws InterruptedException {
        List<KeeperLock> entered = new ArrayList<>();
        List<KeeperLock> wanted = new ArrayList<>();
        boolean isDone = false;
        try {
            for (KeeperLock member : members) {
                member.holdAsPart();
                (member.reenter() ? entered : wanted).add(member);
            }
            List<LeaseHandle> parts =
                    wanted.isEmpty() ? List.of() : take(wanted, Thread.currentThread(), waitNanos, interruptible);
            if (parts != null) {
                ensureStillHeld(entered, parts);
                for (int i = 0; i < parts.size(); i++) {
                    wanted.get(i).hold(parts.get(i));
                    wanted.get(i).holdAsPart();
                    entered.add(wanted.get(i));
                }
                isDone = true;
            }
            return isDone;
        } finally {
            if (!isDone) {
                entered.forEach(MultiLock::undo);
            }
        }
    }

    /** What was held before may have been lost while the rest was awaited: then nothing is kept, as with a lock that is entered again. */
    private static void ensureStillHeld(List<KeeperLock> entered, List<LeaseHandle> parts) {
        try {
            entered.forEach(KeeperLock::ensureHeld);
        } catch (Throwable e) {
            release(parts);
            throw e;
        }
    }

    /** Leaves a lock that was entered again; if it was lost meanwhile, its own unlock will say so. */
    private static void undo(KeeperLock entered) {
        try {
            entered.unlock();
        } catch (IllegalMonitorStateException e) {
            if (!(e.getCause() instanceof LeaseLostException)) {
                throw e;
            }
        }
    }

    @Override
    public void unlock() {
        if (!members.stream().allMatch(KeeperLock::isOwnedByCurrentThread)) {
            throw new IllegalMonitorStateException("this thread does not hold all of " + Printable.quoted(name()));
        }
        Throwable failure = null;
        for (int i = members.size() - 1; i >= 0; i--) {
            try {
                members.get(i).unlock();
            } catch (Throwable e) {
                failure = MultiLease.join(failure, e);
            }
        }
        if (failure != null) {
            throw Lane.<RuntimeException>rethrow(failure);
        }
    }

    @Override
    public boolean isHeldByCurrentThread() {
        return members.stream().allMatch(KeeperLock::isHeldByCurrentThread);
    }

    @Override
    public int holdCount() {
        return members.stream().mapToInt(KeeperLock::holdCount).min().orElse(0);
    }

    @Override
    public boolean isLocked() {
        return members.stream().allMatch(KeeperLock::isLocked);
    }

    @Override
    public Lease lease() {
        return new MultiLease(name(), members.stream().map(KeeperLock::lease).toList());
    }

    @Override
    public boolean equals(@Nullable Object o) {
        return o instanceof MultiLock other && members.equals(other.members);
    }

    @Override
    public int hashCode() {
        return members.hashCode();
    }

    @Override
    public String toString() {
        return "DistributedLock" + members;
    }
}
