// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testkit.history;

/** A release, a count-down or a wait for a latch. */
public final class RecordedStep extends RecordedCall {
    RecordedStep(History history, long operation) {
        super(history, operation);
    }

    /**
     * It happened: released, counted, open.
     *
     * @throws IllegalStateException if it has been answered
     */
    public void ok() {
        answer(Outcome.OK);
    }

    /**
     * The answer of an operation that tells by a boolean, such as {@code Lease.release()}.
     *
     * @throws IllegalStateException if it has been answered
     */
    public void okOrFail(boolean ok) {
        answer(ok ? Outcome.OK : Outcome.FAIL);
    }

    /** Declares that it is to be answered, however, by then (a time of the history's clock). */
    public RecordedStep answeredBy(long deadlineNanos) {
        due(deadlineNanos, false);
        return this;
    }
}
