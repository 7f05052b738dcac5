// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testkit.history;

import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicBoolean;

/** An operation that has been invoked and waits for its answer, which can be given once. */
public abstract sealed class RecordedCall permits RecordedClaim, RecordedReentry, RecordedStep {
    final History history;
    final long operation;
    private final AtomicBoolean answered = new AtomicBoolean();

    RecordedCall(History history, long operation) {
        this.history = history;
        this.operation = operation;
    }

    /**
     * It did not happen and never will.
     *
     * @throws IllegalStateException if it has been answered
     */
    public final void fail() {
        answer(Outcome.FAIL);
    }

    /**
     * It may have happened, may happen later, or never: the call threw, or its answer is not trusted. An operation that
     * is never answered counts as this.
     *
     * @throws IllegalStateException if it has been answered
     */
    public final void info() {
        answer(Outcome.INFO);
    }

    /** The number of the operation, as in the sentences of violations. */
    public final long operation() {
        return operation;
    }

    final void answer(Outcome outcome) {
        history.add(new Event.Returned(answeredNow(), operation, outcome));
    }

    /** Ok, with what was granted: recorded before the answer, so that no answer is ever seen without it. */
    final void grant(OptionalLong token, OptionalLong validUntil) {
        long at = answeredNow();
        history.add(new Event.Granted(at, operation, token, validUntil));
        history.add(new Event.Returned(at, operation, Outcome.OK));
    }

    private long answeredNow() {
        long at = history.elapsed();
        if (!answered.compareAndSet(false, true)) {
            throw new IllegalStateException("Operation #" + operation + " has been answered already");
        }
        return at;
    }

    final void due(long deadline, boolean granted) {
        history.add(new Event.Due(history.elapsed(), operation, history.sinceOrigin(deadline), granted));
    }
}
