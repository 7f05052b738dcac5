// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.cli;

import io.lockkeeper.Lockkeeper;
import java.util.Map;

/**
 * What is about to be done to a store, done first to an empty one in memory: there the library refuses the arguments that it would
 * refuse anywhere, with its own ranges, and no server has been asked and no file made. Where the library has another word for an
 * option, the message gets ours.
 */
interface Rehearsal {
    /** What the messages of the library begin with, and which of our options it is. */
    Map<String, String> OPTIONS =
            Map.of("lease", "--lease", "lockDelay", "--delay", "token", "--token", "limit", "--limit");

    void with(Lockkeeper keeper) throws InterruptedException;

    /** Throws what the library throws of wrong arguments. */
    static void of(Rehearsal use) {
        try (Lockkeeper keeper =
                Lockkeeper.builder("memory:").clientName("rehearsal").build()) {
            use.with(keeper);
        } catch (IllegalArgumentException e) {
            String message = String.valueOf(e.getMessage());
            int verb = message.indexOf(" is ");
            String option = verb < 0 ? null : OPTIONS.get(message.substring(0, verb));
            throw option == null ? e : new IllegalArgumentException(option + message.substring(verb), e);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e); // nobody interrupts before there is something to wait for
        }
    }
}
