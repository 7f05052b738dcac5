// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.engine;

import io.lockkeeper.Lease;
import io.lockkeeper.LeaseLost;
import io.lockkeeper.LeaseLostException;
import io.lockkeeper.Mode;
import io.lockkeeper.Sequencer;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** What the user has of a {@link Possession}. The engine keeps no strong reference to it. */
final class LeaseHandle implements Lease {
    private final Possession possession;
    private final AtomicBoolean ended = new AtomicBoolean();
    private @Nullable Sequencer sequencer;

    LeaseHandle(Possession possession) {
        this.possession = possession;
    }

    Possession possession() {
        return possession;
    }

    @Override
    public String name() {
        return possession.name();
    }

    @Override
    public Mode mode() {
        return possession.mode;
    }

    @Override
    public long token() {
        return possession.token;
    }

    @Override
    public Sequencer sequencer() {
        synchronized (possession.hold.queue) {
            if (sequencer == null) {
                if (possession.state == Hold.State.RELEASED) {
                    throw new IllegalStateException("the lease of '" + name()
                            + "' has been released, and its sequencer was never read: it names no hold any more");
                }
                possession.hold.sequencerRead();
                sequencer = new Sequencer(name(), mode(), token());
            }
            return sequencer;
        }
    }

    @Override
    public List<Lease> parts() {
        return List.of(this);
    }

    @Override
    public boolean isValid() {
        return possession.isValid();
    }

    @Override
    public Duration remaining() {
        long left = possession.hold.tellsAt() - possession.keeper().ticker().nanos();
        return possession.state == Hold.State.HELD && possession.hold.state == Hold.State.HELD && left > 0
                ? Duration.ofNanos(left)
                : Duration.ZERO;
    }

    @Override
    public void ensureValid() {
        if (!possession.isValid()) {
            LeaseLost loss = possession.lossIfAny();
            if (loss != null) {
                throw new LeaseLostException(loss);
            }
            throw new IllegalStateException("the lease of '" + name() + "' has been released");
        }
    }

    @Override
    public Lease onLost(Consumer<LeaseLost> action) {
        possession.onLost(Objects.requireNonNull(action, "action"));
        return this;
    }

    @Override
    public Lease interruptOnLoss() {
        if (!ended.get()) {
            possession.interruptOnLoss(Thread.currentThread());
        }
        return this;
    }

    @Override
    public boolean renew(Duration lease) {
        Objects.requireNonNull(lease, "lease");
        if (possession.hold.settings.renewed()) {
            throw new IllegalStateException("the lease of '" + name() + "' is kept alive; only a fixed one is renewed");
        }
        Checks.fixedLease(lease);
        return possession.hold.renew(possession, lease);
    }

    @Override
    public boolean release() {
        ended.set(true);
        return possession.hold.release(possession);
    }

    @Override
    public CompletableFuture<Boolean> releaseAsync() {
        ended.set(true);
        CompletableFuture<Boolean> future = new CompletableFuture<>();
        Keeper keeper = possession.keeper();
        Runnable release = () -> {
            try {
                boolean released = possession.hold.release(possession);
                keeper.events().run(() -> future.complete(released));
            } catch (RuntimeException | Error e) {
                keeper.events().run(() -> future.completeExceptionally(e));
            }
        };
        try {
            keeper.lanes().execute(possession.hold.lane, release);
        } catch (RejectedExecutionException e) {
            release.run(); // the keeper is closed: the hold has ended, and there is no step to make
        }
        return future;
    }

    @Override
    public void close() {
        if (ended.compareAndSet(false, true) && !possession.hold.release(possession)) {
            LeaseLost loss = possession.lossIfAny();
            if (loss != null) {
                throw new LeaseLostException(loss);
            }
        }
    }

    @Override
    public String toString() {
        return "Lease[" + name() + ", " + mode() + ", token " + token() + ", "
                + (isValid() ? "valid" : possession.state.toString().toLowerCase(java.util.Locale.ROOT)) + "]";
    }
}
