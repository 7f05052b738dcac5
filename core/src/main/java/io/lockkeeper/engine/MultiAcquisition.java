// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.engine;

import io.lockkeeper.spi.Ticker;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Takes several locks, one after the other in the order given: all or none. It occupies no thread: each part begins when the
 * one before it has come. If a part is lost while the rest is awaited, all are released and it begins again, while time is
 * left.
 *
 * <p>It ends exactly once, with all parts, with none or with a failure; before it ends without all parts, each part that
 * had come was released, or its release failed and is repeated in the background.
 */
final class MultiAcquisition {
    private final List<KeeperLock> members;
    private final @Nullable Thread owner;
    private final long deadline;
    private final Ticker ticker;

    /** The parts in order; null when they were not all acquired. Completed on threads of ours. */
    private final CompletableFuture<@Nullable List<LeaseHandle>> result = new CompletableFuture<>();

    // Guarded by this.
    private List<LeaseHandle> parts = new ArrayList<>();
    private @Nullable AsyncAcquisition next;
    private boolean abandoned;

    MultiAcquisition(List<KeeperLock> members, @Nullable Thread owner, long waitNanos) {
        this.members = members;
        this.owner = owner;
        this.ticker = members.get(0).keeper().ticker();
        this.deadline = Checks.after(ticker.nanos(), waitNanos);
    }

    CompletableFuture<@Nullable List<LeaseHandle>> begin() {
        takeNext();
        return result;
    }

    /** Nobody wants it any more: ends without the parts. False when it has ended with all of them, or is bound to. */
    boolean abandon() {
        AsyncAcquisition waiting;
        synchronized (this) {
            if (result.isDone()) {
                return false;
            }
            abandoned = true;
            waiting = next;
        }
        if (waiting == null) {
            endWithout(null);
        } else {
            waiting.abandon(() -> endWithout(null));
        }
        return true;
    }

    private void takeNext() {
        try {
            AsyncAcquisition beginning;
            synchronized (this) {
                if (abandoned) {
                    return;
                }
                KeeperLock member = members.get(parts.size());
                member.keeper().ensureOpen();
                beginning = new AsyncAcquisition(
                        member.keeper(),
                        member.request(),
                        owner,
                        Checks.left(deadline, ticker.nanos()),
                        member.keeper().events()::runOwn,
                        this::came);
                next = beginning;
            }
            beginning.begin();
        } catch (Throwable e) {
            endWithout(e);
        }
    }

    private void came(AsyncAcquisition.Outcome outcome) {
        if (outcome instanceof AsyncAcquisition.Outcome.Acquired acquired) {
            add(acquired.handle());
        } else if (outcome instanceof AsyncAcquisition.Outcome.Failed failed) {
            endWithout(failed.cause());
        } else {
            endWithout(null);
        }
    }

    private void add(LeaseHandle part) {
        List<LeaseHandle> lost = null;
        synchronized (this) {
            parts.add(part);
            if (!abandoned && parts.size() == members.size()) {
                if (parts.stream().allMatch(LeaseHandle::isValid)) {
                    // Completed under the monitor, so that abandon() and this exclude each other; nobody's code depends
                    // on it.
                    result.complete(List.copyOf(parts));
                    return;
                }
                lost = takeParts();
            }
        }
        if (lost != null) {
            releaseAll(lost).whenComplete((v, e) -> again());
        } else if (isAbandoned()) {
            releaseAll(takeParts());
        } else {
            takeNext();
        }
    }

    /** A part was lost while the rest was awaited. */
    private void again() {
        if (ticker.nanos() >= deadline) {
            endWithout(null);
        } else {
            takeNext();
        }
    }

    private synchronized boolean isAbandoned() {
        return abandoned;
    }

    private synchronized List<LeaseHandle> takeParts() {
        List<LeaseHandle> taken = parts;
        parts = new ArrayList<>();
        return taken;
    }

    /** Releases what has come, and then ends. */
    private void endWithout(@Nullable Throwable failure) {
        releaseAll(takeParts()).whenComplete((v, e) -> {
            if (failure == null) {
                result.complete(null);
            } else {
                result.completeExceptionally(failure);
            }
        });
    }

    /** Completed when each of them was released or its release has failed, which is repeated in the background. */
    private static CompletableFuture<Void> releaseAll(List<LeaseHandle> parts) {
        CompletableFuture<?>[] all = new CompletableFuture<?>[parts.size()];
        for (int i = 0; i < all.length; i++) {
            all[i] = parts.get(all.length - 1 - i).releaseInBackground();
        }
        return CompletableFuture.allOf(all);
    }
}
