// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.spi;

/**
 * One attempt to hold a name. Repeating a claim with the same id is harmless.
 *
 * @param name what is to be held
 * @param id unique forever
 * @param terms what is asked for
 * @param deadline the store refuses to carry the claim out for the first time after this moment
 * @param stray whether another copy of it may still be on its way, because it was repeated or withdrawn unanswered: then
 *     the store remembers the id until the deadline when the claim ends, and refuses it
 */
public record Claim(String name, ClaimId id, Terms terms, StoreTime deadline, boolean stray) {
    /** This claim, of which another copy may be on its way. */
    public Claim asStray() {
        return stray ? this : new Claim(name, id, terms, deadline, true);
    }
}
