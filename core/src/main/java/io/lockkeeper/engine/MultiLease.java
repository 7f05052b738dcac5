// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.engine;

import io.lockkeeper.Lease;
import io.lockkeeper.LeaseLost;
import io.lockkeeper.LeaseLostException;
import io.lockkeeper.Mode;
import io.lockkeeper.Sequencer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Possession of several locks: valid while all parts are. Its parts are released in the reverse order. */
final class MultiLease implements Lease {
    private final String name;
    private final List<Lease> parts;
    private final AtomicBoolean ended = new AtomicBoolean();

    MultiLease(String name, List<? extends Lease> parts) {
        this.name = name;
        this.parts = List.copyOf(parts);
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public Mode mode() {
        return parts.stream().anyMatch(p -> p.mode() == Mode.EXCLUSIVE)
                ? Mode.EXCLUSIVE
                : parts.get(0).mode();
    }

    @Override
    public long token() {
        throw new UnsupportedOperationException("each of several locks has its own token: see parts()");
    }

    @Override
    public Sequencer sequencer() {
        throw new UnsupportedOperationException("each of several locks has its own sequencer: see parts()");
    }

    @Override
    public List<Lease> parts() {
        return parts;
    }

    @Override
    public boolean isValid() {
        return parts.stream().allMatch(Lease::isValid);
    }

    @Override
    public Duration remaining() {
        return parts.stream()
                .map(Lease::remaining)
                .min(Comparator.naturalOrder())
                .orElse(Duration.ZERO);
    }

    @Override
    public void ensureValid() {
        parts.forEach(Lease::ensureValid);
    }

    @Override
    public Lease onLost(Consumer<LeaseLost> action) {
        AtomicBoolean told = new AtomicBoolean();
        for (Lease part : parts) {
            part.onLost(loss -> {
                if (told.compareAndSet(false, true)) {
                    action.accept(loss);
                }
            });
        }
        return this;
    }

    @Override
    public Lease interruptOnLoss() {
        parts.forEach(Lease::interruptOnLoss);
        return this;
    }

    @Override
    public boolean renew(Duration lease) {
        boolean all = true;
        for (Lease part : parts) {
            all &= part.renew(lease);
        }
        return all;
    }

    @Override
    public boolean release() {
        ended.set(true);
        return releaseAll(parts, null);
    }

    @Override
    public CompletableFuture<Boolean> releaseAsync() {
        ended.set(true);
        CompletableFuture<Boolean> all = CompletableFuture.completedFuture(true);
        for (Lease part : parts) {
            all = all.thenCombine(part.releaseAsync(), Boolean::logicalAnd);
        }
        return all;
    }

    @Override
    public void close() {
        if (!ended.compareAndSet(false, true)) {
            return;
        }
        List<LeaseLost> losses = new ArrayList<>();
        if (!releaseAll(parts, losses) && !losses.isEmpty()) {
            throw new LeaseLostException(losses.get(0));
        }
    }

    /** Releases every part, also when one fails; the failures come after that, as one. */
    static boolean releaseAll(List<Lease> parts, @Nullable List<LeaseLost> losses) {
        boolean all = true;
        Throwable failure = null;
        for (int i = parts.size() - 1; i >= 0; i--) {
            try {
                if (!parts.get(i).release()) {
                    all = false;
                    if (losses != null && parts.get(i) instanceof LeaseHandle handle) {
                        LeaseLost loss = handle.possession().lossIfAny();
                        if (loss != null) {
                            losses.add(loss);
                        }
                    }
                }
            } catch (Throwable e) {
                failure = join(failure, e);
            }
        }
        if (failure != null) {
            throw Lane.<RuntimeException>rethrow(failure);
        }
        return all;
    }

    static Throwable join(@Nullable Throwable first, Throwable next) {
        if (first == null) {
            return next;
        }
        first.addSuppressed(next);
        return first;
    }

    @Override
    public String toString() {
        return "Lease" + parts;
    }
}
