// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.cli;

import io.lockkeeper.Lockkeeper;

/**
 * What is about to be done to a store, done first to an empty one in memory: there the library refuses the arguments that it would
 * refuse anywhere, with its own ranges and words, and no server has been asked and no file made.
 */
interface Rehearsal {
    void with(Lockkeeper keeper) throws InterruptedException;

    /** Throws what the library throws of wrong arguments. */
    static void of(Rehearsal use) {
        try (Lockkeeper keeper =
                Lockkeeper.builder("memory:").clientName("rehearsal").build()) {
            use.with(keeper);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e); // nobody interrupts before there is something to wait for
        }
    }
}
