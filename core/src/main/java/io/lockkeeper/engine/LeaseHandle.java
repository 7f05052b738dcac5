// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.engine;

import io.lockkeeper.KeeperClosedException;
import io.lockkeeper.Lease;
import io.lockkeeper.LeaseLost;
import io.lockkeeper.LeaseLostException;
import io.lockkeeper.Mode;
import io.lockkeeper.Sequencer;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** What the user has of a {@link Possession}. The engine keeps no strong reference to it. */
final class LeaseHandle implements Lease {
    private final Possession possession;
    private final AtomicBoolean ended = new AtomicBoolean();
    private volatile boolean resigned;
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
                    throw new IllegalStateException("the lease of " + Printable.quoted(name())
                            + " has been released, and its sequencer was never read: it names no hold any more");
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
        return !resigned && possession.isValid();
    }

    /** It counts as ended for those who have it; the hold itself stays until it is released. */
    void resign() {
        resigned = true;
    }

    @Override
    public Duration remaining() {
        long left = possession.hold.validity.deadline()
                - possession.keeper().ticker().nanos();
        return possession.state == Hold.State.HELD && possession.hold.state == Hold.State.HELD && left > 0 && !resigned
                ? Duration.ofNanos(left)
                : Duration.ZERO;
    }

    @Override
    public void ensureValid() {
        if (!isValid()) {
            LeaseLost loss = possession.lossIfAny();
            if (loss != null) {
                throw new LeaseLostException(loss);
            }
            throw new IllegalStateException("the lease of " + Printable.quoted(name()) + " has been "
                    + (resigned ? "given up: this candidate has resigned or was closed" : "released"));
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
            throw new IllegalStateException(
                    "the lease of " + Printable.quoted(name()) + " is kept alive; only a fixed one is renewed");
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
        CompletableFuture<Boolean> future = new CompletableFuture<>();
        Events events = possession.keeper().events();
        releaseInBackground()
                .whenComplete((released, failure) -> events.run(() -> {
                    if (failure != null) {
                        future.completeExceptionally(failure);
                    } else {
                        future.complete(released);
                    }
                }));
        return future;
    }

    /** Releases on a thread of the lane; the future is ours, and completed there. */
    CompletableFuture<Boolean> releaseInBackground() {
        ended.set(true);
        Releasing releasing = new Releasing(possession.hold.startRelease(possession));
        if (!possession.hold.lane.steps.execute(releasing)) {
            releasing.run(); // the keeper is closed: the hold has ended, and there is no step to make
        }
        return releasing.future;
    }

    private final class Releasing implements Workers.Task {
        private final CompletableFuture<Boolean> future = new CompletableFuture<>();
        private final Hold.Release started;

        Releasing(Hold.Release started) {
            this.started = started;
        }

        @Override
        public void run() {
            try {
                future.complete(started.finish());
            } catch (Throwable e) {
                future.completeExceptionally(e);
            }
        }

        @Override
        public void abort() {
            future.completeExceptionally(new KeeperClosedException("the keeper was closed before "
                    + Printable.quoted(name()) + " was released; its lease ends by itself"));
        }
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
        return "Lease[" + Printable.text(name()) + ", " + mode() + ", token " + token() + ", "
                + (isValid() ? "valid" : possession.state.toString().toLowerCase(java.util.Locale.ROOT)) + "]";
    }
}
