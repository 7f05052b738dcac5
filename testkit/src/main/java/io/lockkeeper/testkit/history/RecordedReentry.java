// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testkit.history;

import java.util.OptionalLong;

/** The holder enters again. */
public final class RecordedReentry extends RecordedCall {
    RecordedReentry(History history, long operation) {
        super(history, operation);
    }

    /**
     * It is one level deeper.
     *
     * @param token that the hold is said to have now
     * @throws IllegalStateException if it has been answered
     */
    public void ok(long token) {
        grant(OptionalLong.of(token), OptionalLong.empty());
    }

    /**
     * It is one level deeper, and nobody asked for the token.
     *
     * @throws IllegalStateException if it has been answered
     */
    public void ok() {
        answer(Outcome.OK);
    }
}
