// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.engine;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * An acquisition that occupies no thread: its store steps run on the lane's threads, what becomes of it is reported, once, on
 * a thread of the keeper's that runs callbacks. One that is {@link #abandon abandoned} leaves the queue; a possession that
 * comes all the same is given back.
 */
final class AsyncAcquisition {
    /** What became of it: exactly one of these. */
    sealed interface Outcome {
        /** It is in possession; nobody else has the handle. */
        record Acquired(LeaseHandle handle) implements Outcome {}

        /** The lock is taken. */
        record NotAcquired() implements Outcome {}

        /** It failed. */
        record Failed(Throwable cause) implements Outcome {}
    }

    private final Keeper keeper;
    private final LockRequest request;
    private final @Nullable Thread owner;
    private final boolean once;
    private final long start;
    private final long deadline;
    private final Consumer<Runnable> runner;
    private final Consumer<Outcome> then;

    // Guarded by this.
    private @Nullable Attempt attempt;
    private boolean abandoned;

    /** An acquisition whose outcome is passed to {@code then} on a thread of {@code runner}. */
    AsyncAcquisition(
            Keeper keeper,
            LockRequest request,
            @Nullable Thread owner,
            long waitNanos,
            Consumer<Runnable> runner,
            Consumer<Outcome> then) {
        this.keeper = keeper;
        this.request = request;
        this.owner = owner;
        this.once = waitNanos == 0;
        this.start = keeper.ticker().nanos();
        this.deadline = Checks.after(start, waitNanos);
        this.runner = runner;
        this.then = then;
    }

    /** Begins; when this throws, nothing is reported. */
    void begin() {
        Attempt entering = new Attempt(keeper.traces().sample());
        synchronized (this) {
            if (abandoned) {
                return;
            }
            attempt = entering;
        }
        try {
            entering.enter();
        } catch (Throwable e) {
            entering.leave(() -> {});
            throw e;
        }
    }

    /** Nobody wants to know any more. */
    void abandon() {
        abandon(() -> {});
    }

    /** Nobody wants to know any more; {@code afterwards} runs when the store was told, or could not be. */
    void abandon(Runnable afterwards) {
        Attempt entered;
        synchronized (this) {
            abandoned = true;
            entered = attempt;
        }
        if (entered == null) {
            afterwards.run();
        } else if (entered.leave(afterwards)) {
            keeper.events().notAcquired(request.name(), start);
        }
    }

    /** One stay in a queue. */
    private final class Attempt extends Waiter {
        private final AtomicBoolean finished = new AtomicBoolean();
        private volatile @Nullable LocalQueue queue;

        // Guarded by the queue.
        private Timer.@Nullable Task alarm;
        private boolean isTimingOut;

        Attempt(@Nullable Throwable trace) {
            super(AsyncAcquisition.this.once, AsyncAcquisition.this.deadline, AsyncAcquisition.this.owner, trace);
        }

        void enter() {
            LocalQueue found = keeper.queueFor(request);
            queue = found;
            while (!found.enter(this)) {
                keeper.forget(found); // done, but for a stack that overflowed just then
                found = keeper.queueFor(request);
                queue = found;
            }
            synchronized (found) {
                if (!once && deadline != Long.MAX_VALUE && !isAnswered()) {
                    LocalQueue in = found;
                    alarm = keeper.timer().schedule(deadline, () -> timeOut(in));
                }
            }
            if (isAbandoned()) {
                leave(() -> {});
            }
        }

        private boolean isAbandoned() {
            synchronized (AsyncAcquisition.this) {
                return abandoned;
            }
        }

        /** False when it has been answered, or has not entered yet and sees for itself that nobody wants it. */
        boolean leave(Runnable afterwards) {
            LocalQueue in = queue;
            boolean[] ends = new boolean[1];
            boolean left = in != null
                    && in.abandon(this, unwanted -> {
                        ends[0] = true;
                        keeper.claims().endInBackground(unwanted, afterwards);
                    });
            if (!ends[0]) {
                afterwards.run();
            }
            return left;
        }

        @Override
        void wake() {
            if (isAnswered()) {
                if (alarm != null) {
                    keeper.timer().cancel(alarm);
                }
                if (!(result() instanceof Result.Left) && !isTimingOut) {
                    finishSoon();
                }
            } else if (role() instanceof Role.Rest rest) {
                keeper.timer().schedule(rest.until(), this::work);
            } else {
                work();
            }
        }

        @Override
        void remind() {
            finishSoon();
        }

        private void finishSoon() {
            runner.accept(this::finish);
        }

        /** Reports that the time is up after the store was told that nobody waits any more. */
        private void timeOut(LocalQueue in) {
            synchronized (in) {
                if (isAnswered()) {
                    return;
                }
                isTimingOut = true;
                boolean[] ends = new boolean[1];
                in.timeOut(this, unwanted -> {
                    ends[0] = true;
                    keeper.claims().endInBackground(unwanted, this::finishSoon);
                });
                isTimingOut = false;
                if (isAnswered() && !ends[0]) {
                    finishSoon();
                }
            }
        }

        private void work() {
            LocalQueue in = queue;
            if (in != null) {
                long asked = keeper.ticker().nanos();
                // When the lane is closed, so is the queue, and all in it are answered.
                in.lane().steps.execute(() -> in.perform(this, asked));
            }
        }

        private void finish() {
            if (!finished.compareAndSet(false, true)) {
                return;
            }
            Result r = result();
            if (r instanceof Result.Acquired acquired) {
                LeaseHandle handle = acquired.possession().handOut();
                if (handle != null) {
                    keeper.events().acquired(handle, start);
                    then.accept(new Outcome.Acquired(handle));
                } else if (once || keeper.ticker().nanos() >= deadline) {
                    notAcquired();
                } else {
                    again();
                }
            } else if (r instanceof Result.Failed failed) {
                then.accept(new Outcome.Failed(failed.cause()));
            } else {
                notAcquired();
            }
        }

        private void notAcquired() {
            keeper.events().notAcquired(request.name(), start);
            then.accept(new Outcome.NotAcquired());
        }

        /** What it got had run out before it could be taken. */
        private void again() {
            try {
                begin();
            } catch (Throwable e) {
                then.accept(new Outcome.Failed(e));
            }
        }
    }
}
