// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.engine;

import io.lockkeeper.DistributedLock;
import io.lockkeeper.Lease;
import io.lockkeeper.LeaseLostException;
import io.lockkeeper.spi.LockStore;
import io.lockkeeper.spi.Ticker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Several locks as one, taken in one global order: by name, then by the id that each store keeps of itself. Whoever takes
 * more than one lock this way takes them in the same order as all others, so that they cannot wait for each other in a
 * circle. See {@link DistributedLock#all}.
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
                throw new IllegalArgumentException(
                        "'" + member.name() + "' is there twice; a name of a store can be taken once, in one mode");
            }
        }
        members.sort(Comparator.comparing(KeeperLock::name).thenComparing(MultiLock::storeId));
        return members.size() == 1 ? members.get(0) : new MultiLock(List.copyOf(members));
    }

    private static String storeId(KeeperLock lock) {
        LockStore store = lock.keeper().store();
        return lock.keeper().steps().ask(store.lane(lock.name()), store::id);
    }

    @Override
    public String name() {
        return members.stream().map(KeeperLock::name).collect(Collectors.joining(" + "));
    }

    private Ticker ticker() {
        return members.get(0).keeper().ticker();
    }

    // ---- Handles ----

    @Override
    public Lease acquire() throws InterruptedException {
        members.forEach(KeeperLock::refuseToWaitForMyself);
        for (; ; ) {
            Optional<Lease> lease = tryAcquire(Duration.ofSeconds(Long.MAX_VALUE));
            if (lease.isPresent()) {
                return lease.get();
            }
        }
    }

    @Override
    public Optional<Lease> tryAcquire() {
        return takeAll(member -> member.tryAcquire());
    }

    @Override
    public Optional<Lease> tryAcquire(Duration wait) throws InterruptedException {
        long deadline = Checks.after(ticker().nanos(), Checks.waitNanos(wait));
        for (; ; ) {
            Round round = new Round();
            try {
                for (KeeperLock member : members) {
                    Optional<Lease> part = member.tryAcquire(left(deadline));
                    if (part.isEmpty()) {
                        return Optional.empty();
                    }
                    round.add(part.get());
                }
                Optional<Lease> whole = round.complete();
                if (whole.isPresent() || ticker().nanos() >= deadline) {
                    return whole;
                }
            } finally {
                round.end();
            }
        }
    }

    private Optional<Lease> takeAll(java.util.function.Function<KeeperLock, Optional<Lease>> take) {
        Round round = new Round();
        try {
            for (KeeperLock member : members) {
                Optional<Lease> part = take.apply(member);
                if (part.isEmpty()) {
                    return Optional.empty();
                }
                round.add(part.get());
            }
            return round.complete();
        } finally {
            round.end();
        }
    }

    private Duration left(long deadline) {
        return deadline == Long.MAX_VALUE
                ? Duration.ofSeconds(Long.MAX_VALUE)
                : Duration.ofNanos(Math.max(0, deadline - ticker().nanos()));
    }

    /** One round of taking all parts: it ends with all of them, or with none. */
    private final class Round {
        private final List<Lease> parts = new ArrayList<>();
        private boolean complete;

        synchronized void add(Lease part) {
            parts.add(part);
        }

        /** All parts as one lease; nothing when one of them was lost while the rest was awaited. */
        synchronized Optional<Lease> complete() {
            for (Lease part : parts) {
                if (!part.isValid()) {
                    return Optional.empty();
                }
            }
            complete = true;
            return Optional.of(new MultiLease(name(), parts));
        }

        synchronized void end() {
            if (!complete) {
                MultiLease.releaseAll(parts, null);
            }
        }
    }

    @Override
    public CompletableFuture<Lease> acquireAsync() {
        CompletableFuture<Lease> result = new CompletableFuture<>();
        new AsyncRound(Long.MAX_VALUE, result, lease -> result.complete(lease.orElseThrow())).begin();
        return result;
    }

    @Override
    public CompletableFuture<Optional<Lease>> tryAcquireAsync(Duration wait) {
        CompletableFuture<Optional<Lease>> result = new CompletableFuture<>();
        long deadline = Checks.after(ticker().nanos(), Checks.waitNanos(wait));
        new AsyncRound(deadline, result, result::complete).begin();
        return result;
    }

    /** Takes the parts one after the other, each when the one before it has come, on no thread of its own. */
    private final class AsyncRound {
        private final long deadline;
        private final CompletableFuture<?> result;
        private final java.util.function.Predicate<Optional<Lease>> completes;
        private Round round = new Round();

        AsyncRound(
                long deadline, CompletableFuture<?> result, java.util.function.Predicate<Optional<Lease>> completes) {
            this.deadline = deadline;
            this.result = result;
            this.completes = completes;
        }

        void begin() {
            next(0);
        }

        private void next(int i) {
            if (i == members.size()) {
                Optional<Lease> whole = round.complete();
                if (whole.isEmpty() && ticker().nanos() < deadline && !result.isDone()) {
                    round.end();
                    round = new Round();
                    next(0);
                } else {
                    finish(whole);
                }
                return;
            }
            CompletableFuture<Optional<Lease>> step = members.get(i).tryAcquireAsync(left(deadline));
            result.whenComplete((value, failure) -> {
                if (failure != null) {
                    step.cancel(false); // the user has cancelled, or given up
                }
            });
            step.whenComplete((part, failure) -> {
                if (failure != null) {
                    round.end();
                    result.completeExceptionally(failure);
                } else if (part.isEmpty()) {
                    round.end();
                    finish(Optional.empty());
                } else {
                    round.add(part.get());
                    if (result.isDone()) {
                        round.end();
                    } else {
                        next(i + 1);
                    }
                }
            });
        }

        private void finish(Optional<Lease> whole) {
            if (!completes.test(whole)) {
                whole.ifPresent(Lease::releaseAsync);
            }
        }
    }

    // ---- java.util.concurrent: each member in turn, all or none ----

    @Override
    public void lock() {
        for (; ; ) {
            int taken = 0;
            try {
                for (KeeperLock member : members) {
                    member.lock();
                    taken++;
                }
                if (allHeld()) {
                    return;
                }
                unlock(taken);
                taken = 0;
            } catch (RuntimeException | Error e) {
                throw undo(taken, e);
            }
        }
    }

    @Override
    public void lockInterruptibly() throws InterruptedException {
        while (!tryLock(Long.MAX_VALUE)) {
            // a wait without end that ended: begin again
        }
    }

    @Override
    public boolean tryLock() {
        int taken = 0;
        try {
            for (KeeperLock member : members) {
                if (!member.tryLock()) {
                    break;
                }
                taken++;
            }
        } catch (RuntimeException | Error e) {
            throw undo(taken, e);
        }
        if (taken == members.size()) {
            return true;
        }
        unlock(taken);
        return false;
    }

    @Override
    boolean tryLock(long waitNanos) throws InterruptedException {
        long deadline = Checks.after(ticker().nanos(), waitNanos);
        for (; ; ) {
            int taken = 0;
            try {
                for (KeeperLock member : members) {
                    if (!member.tryLock(Checks.waitNanos(left(deadline)))) {
                        break;
                    }
                    taken++;
                }
            } catch (InterruptedException e) {
                unlock(taken);
                throw e;
            } catch (RuntimeException | Error e) {
                throw undo(taken, e);
            }
            if (taken == members.size() && allHeld()) {
                return true;
            }
            unlock(taken);
            if (ticker().nanos() >= deadline) {
                return false;
            }
        }
    }

    private boolean allHeld() {
        for (KeeperLock member : members) {
            if (!member.isHeldByCurrentThread()) {
                return false;
            }
        }
        return true;
    }

    private RuntimeException undo(int taken, Throwable cause) {
        try {
            unlock(taken);
        } catch (RuntimeException e) {
            cause.addSuppressed(e);
        }
        if (cause instanceof Error error) {
            throw error;
        }
        return (RuntimeException) cause;
    }

    /** Unlocks the first so many, ignoring those that were lost: nobody was told that they were held. */
    private void unlock(int taken) {
        RuntimeException failure = null;
        for (int i = taken - 1; i >= 0; i--) {
            try {
                members.get(i).unlock();
            } catch (IllegalMonitorStateException e) {
                if (!(e.getCause() instanceof LeaseLostException)) {
                    failure = MultiLease.join(failure, e);
                }
            } catch (RuntimeException e) {
                failure = MultiLease.join(failure, e);
            }
        }
        if (failure != null) {
            throw failure;
        }
    }

    @Override
    public void unlock() {
        if (members.stream().noneMatch(KeeperLock::isOwnedByCurrentThread)) {
            throw new IllegalMonitorStateException("this thread does not hold '" + name() + "'");
        }
        RuntimeException failure = null;
        for (int i = members.size() - 1; i >= 0; i--) {
            try {
                members.get(i).unlock();
            } catch (RuntimeException e) {
                failure = MultiLease.join(failure, e);
            }
        }
        if (failure != null) {
            throw failure;
        }
    }

    @Override
    public boolean isHeldByCurrentThread() {
        return allHeld();
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
