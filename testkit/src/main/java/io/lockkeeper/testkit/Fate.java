// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testkit;

import io.lockkeeper.StoreUnavailableException;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What becomes of one step: when its request reaches the store, whether the store carries it out, and when its caller is
 * answered, if at all. Immutable. Delays are of real time, also for a store on {@link VirtualTime}.
 *
 * @see FaultyStore#disturb
 */
public final class Fate {
    private static final Fate ANSWERED = new Fate(Duration.ZERO, true, Duration.ZERO, null);

    private final Duration before;
    private final boolean carriedOut;
    private final Duration after;
    private final @Nullable Supplier<Throwable> failure;

    private Fate(Duration before, boolean carriedOut, Duration after, @Nullable Supplier<Throwable> failure) {
        this.before = before;
        this.carriedOut = carriedOut;
        this.after = after;
        this.failure = failure;
    }

    /** Nothing goes wrong. */
    public static Fate answered() {
        return ANSWERED;
    }

    /** The step is not carried out, and fails as if the store were unreachable. */
    public static Fate requestLost() {
        return new Fate(Duration.ZERO, false, Duration.ZERO, () -> unavailable("the request was lost"));
    }

    /** The step is carried out, and fails as if the store were unreachable. */
    public static Fate replyLost() {
        return new Fate(Duration.ZERO, true, Duration.ZERO, () -> unavailable("the reply was lost"));
    }

    /**
     * The step throws what no store should throw, as a store with a defect may.
     *
     * @param thrown a {@link RuntimeException} or an {@link Error}
     * @param carriedOut whether it is carried out first
     */
    public static Fate broken(Throwable thrown, boolean carriedOut) {
        if (!(thrown instanceof RuntimeException) && !(thrown instanceof Error)) {
            throw new IllegalArgumentException(thrown + " is checked; no step can throw that");
        }
        return new Fate(Duration.ZERO, carriedOut, Duration.ZERO, () -> thrown);
    }

    /** The same, but the request is delayed by this much. */
    public Fate sentAfter(Duration delay) {
        return new Fate(delay, carriedOut, after, failure);
    }

    /** The same, but the reply is delayed by this much. */
    public Fate answeredAfter(Duration delay) {
        return new Fate(before, carriedOut, delay, failure);
    }

    <T> T apply(Supplier<T> step) {
        pass(before);
        if (failure == null) {
            T answer = step.get();
            pass(after);
            return answer;
        }
        if (carriedOut) {
            Objects.requireNonNull(step.get(), "answer");
        }
        pass(after);
        Throwable thrown = failure.get();
        if (thrown instanceof Error error) {
            throw error;
        }
        throw (RuntimeException) thrown;
    }

    /** An interrupt does not end a step. */
    private static void pass(Duration delay) {
        long until = System.nanoTime() + delay.toNanos();
        boolean interrupted = false;
        for (long left = delay.toNanos(); left > 0; left = until - System.nanoTime()) {
            try {
                TimeUnit.NANOSECONDS.sleep(left);
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private static StoreUnavailableException unavailable(String why) {
        return new StoreUnavailableException("injected: " + why, null);
    }

    @Override
    public String toString() {
        return (carriedOut ? "carried out" : "not carried out")
                + (before.isZero() ? "" : " after " + before.toMillis() + " ms")
                + (failure == null ? ", answered" : ", failed")
                + (after.isZero() ? "" : " " + after.toMillis() + " ms later");
    }
}
