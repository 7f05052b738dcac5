// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testkit.history;

import java.util.OptionalLong;

/**
 * An operation as a whole: invoked, and answered or not.
 *
 * @param id its number in the history, in order of invocation as recorded
 * @param client who asked; for a write, {@code storage}
 * @param name of the lock, semaphore, latch or storage
 * @param call what was asked for
 * @param invoked when, in nanoseconds since the history began
 * @param outcome {@link Outcome#INFO} also if it has not been answered
 * @param returned when it was answered; {@link Long#MAX_VALUE} if it has not been
 * @param token that it was granted or that it wrote with
 */
public record Operation(
        long id,
        String client,
        String name,
        Call call,
        long invoked,
        Outcome outcome,
        long returned,
        OptionalLong token) {

    boolean isOk() {
        return outcome == Outcome.OK;
    }

    /** Unknown counts: the opposite is certainty that it did not happen. */
    boolean mayHaveHappened() {
        return outcome != Outcome.FAIL;
    }

    /** Such as {@code c1's exclusive claim #3 (token 34) in [1.0 ms, 2.0 ms]}. */
    @Override
    public String toString() {
        String with = token.isPresent() ? " (token " + token.getAsLong() + ")" : "";
        return client + "'s " + call.verb() + " #" + id + with + " in " + Nanos.show(invoked, returned);
    }
}
