// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.spi;

import io.lockkeeper.Mode;

/**
 * A granted claim. The hold is identified by the claim's id alone.
 *
 * @param claim the claim, as it was last sent
 * @param mode how the name is held now; differs from the claim's terms after a downgrade
 * @param token the fencing token in use
 * @param block how many tokens, {@code token} the first, belong to this grant
 */
public record Grant(Claim claim, Mode mode, long token, int block) {
    /** The grant that answers {@code claim}. */
    public static Grant of(Claim claim, Answer.Granted answer) {
        return new Grant(claim, claim.terms().mode(), answer.token(), answer.block());
    }

    /** Whether {@code candidate} is one of this grant's tokens. */
    public boolean covers(long candidate) {
        return candidate >= token && candidate - token < block;
    }
}
