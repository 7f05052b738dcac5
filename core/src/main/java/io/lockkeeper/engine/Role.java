// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.engine;

/** What a waiter must do itself, on its own thread, before it can be answered. */
sealed interface Role {
    /** Make a claim in the store for all who wait in the queue. */
    record Drive() implements Role {}

    /** Confirm, with a renewal, a grant that was handed over. */
    record Confirm(Hold hold) implements Role {}

    /** Ask what became of the claim that is queued. */
    record Ask(OpenClaim claim) implements Role {}

    /** Make a claim again at that time. */
    record Rest(long until) implements Role {}
}
