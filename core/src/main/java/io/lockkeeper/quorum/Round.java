// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.quorum;

import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.spi.Ticker;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * One question to all members at once, each asked on its own thread. The asking thread waits until it has heard enough, or
 * for a limited time; what comes later is noted by the step itself, if it matters.
 */
final class Round<R> {
    /** Once there are enough answers, the others are waited for as long again as that took, and this longer. */
    private static final long GRACE = 2_000_000;

    private final Ticker ticker;
    private final Thread asker = Thread.currentThread();
    private final @Nullable Object[] outcomes;
    private final long began;

    /** A member that did not answer, and why. */
    private record Failed(RuntimeException why) {}

    private Round(Ticker ticker, int members) {
        this.ticker = ticker;
        this.outcomes = new Object[members];
        this.began = ticker.nanos();
    }

    /** Asks these members, of that many altogether. */
    static <R> Round<R> ask(Ticker ticker, List<Member> members, int of, Member.Kind kind, Function<Member, R> step) {
        Round<R> round = new Round<>(ticker, of);
        for (Member member : members) {
            member.ask(kind, () -> round.run(member, step), why -> round.settle(member, new Failed(why)));
        }
        return round;
    }

    private void run(Member member, Function<Member, R> step) {
        Object outcome;
        try {
            outcome = step.apply(member);
        } catch (RuntimeException e) {
            outcome = new Failed(e);
        } catch (Error e) {
            settle(member, new Failed(new StoreUnavailableException("a member's step failed: " + e, e)));
            throw e;
        }
        settle(member, outcome);
    }

    private void settle(Member member, @Nullable Object outcome) {
        synchronized (this) {
            outcomes[member.number()] = outcome;
        }
        LockSupport.unpark(asker);
    }

    /** Waits until it is so, or for that many nanoseconds after the beginning; interrupts are kept for later. */
    void await(long nanos, BooleanSupplier enough) {
        boolean interrupted = false;
        while (!enough.getAsBoolean() && ticker.nanos() < began + nanos) {
            ticker.parkUntil(began + nanos);
            interrupted |= Thread.interrupted();
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Waits until it is so, and then a little for the rest of those asked. */
    void awaitMost(long nanos, int asked, BooleanSupplier enough) {
        await(nanos, () -> enough.getAsBoolean() || settled() == asked);
        long took = ticker.nanos() - began;
        await(Math.min(nanos, 2 * took + GRACE), () -> settled() == asked);
    }

    /** How many have answered or failed. */
    synchronized int settled() {
        int count = 0;
        for (Object outcome : outcomes) {
            count += outcome == null ? 0 : 1;
        }
        return count;
    }

    /** What a member answered; null when it did not. */
    @SuppressWarnings("unchecked")
    synchronized @Nullable R answer(int member) {
        Object outcome = outcomes[member];
        return outcome == null || outcome instanceof Failed ? null : (R) outcome;
    }

    /** How many have given an answer that is so. */
    synchronized int count(Predicate<? super R> is) {
        int count = 0;
        for (int i = 0; i < outcomes.length; i++) {
            R answer = answer(i);
            count += answer != null && is.test(answer) ? 1 : 0;
        }
        return count;
    }

    int answered() {
        return count(answer -> true);
    }

    int failed() {
        return settled() - answered();
    }

    void forEach(Consumer<? super R> action) {
        for (int i = 0; i < outcomes.length; i++) {
            R answer = answer(i);
            if (answer != null) {
                action.accept(answer);
            }
        }
    }

    /** Why this member did not answer; null when it did. */
    synchronized @Nullable RuntimeException failure(int member) {
        Object outcome = outcomes[member];
        return outcome instanceof Failed failed ? failed.why : null;
    }

    /** Says for people who did not answer and why. */
    synchronized String describe() {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < outcomes.length; i++) {
            Object outcome = outcomes[i];
            String says = outcome == null
                    ? "no answer in time"
                    : outcome instanceof Failed failed ? String.valueOf(failed.why.getMessage()) : "answered";
            text.append(i == 0 ? "" : "; ")
                    .append("member ")
                    .append(i + 1)
                    .append(": ")
                    .append(says);
        }
        return text.toString();
    }

    /** A failure that no repetition cures, of one of the members. */
    synchronized @Nullable StoreUnavailableException lasting() {
        for (Object outcome : outcomes) {
            if (outcome instanceof Failed failed
                    && failed.why instanceof StoreUnavailableException e
                    && !e.worthRepeating()) {
                return e;
            }
        }
        return null;
    }
}
