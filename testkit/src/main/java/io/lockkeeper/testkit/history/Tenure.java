// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testkit.history;

import java.util.List;
import java.util.Optional;

/**
 * What is certain about the time of a hold: it had begun by {@code latestStart}, and it had not ended before {@code
 * earliestEnd}. So it was in force throughout {@code [latestStart, earliestEnd]}; where that is empty, at one instant
 * of {@code [earliestEnd, latestStart]} at least. Certain does not mean all: the true hold may be longer at both ends,
 * which is why no legal history is accused on these grounds.
 *
 * @param earliestEnd by the holder's own rights: the first of the possible release, the telling of loss and the end of
 *     declared validity
 * @param confirmedEnd by the store's word as well: a release that was answered ok proves that the hold was in force
 *     until then, whatever the holder believed. Never earlier than {@code earliestEnd}
 * @param ending what {@code earliestEnd} is, in words
 */
record Tenure(Hold hold, long latestStart, long earliestEnd, long confirmedEnd, String ending) {
    private static final String RELEASED_OK = "the release was invoked that was answered ok";

    /** Empty if the claim failed, or its outcome is unknown and no release tells that it was granted. */
    static Optional<Tenure> of(Hold hold) {
        return switch (hold.claim().outcome()) {
            case OK -> Optional.of(granted(hold));
            case INFO -> hold.okReleases().isEmpty() ? Optional.empty() : Optional.of(inferred(hold));
            case FAIL -> Optional.empty();
        };
    }

    Operation claim() {
        return hold.claim();
    }

    /** The same, with its end taken from the store's word. */
    Tenure confirmed() {
        return new Tenure(hold, latestStart, confirmedEnd, confirmedEnd, RELEASED_OK);
    }

    /** Whether both were in force at one time. Where one ends as the other begins, the clock was too coarse to tell. */
    boolean overlaps(Tenure other) {
        return latestStart < other.earliestEnd && other.latestStart < earliestEnd;
    }

    private static Tenure granted(Hold hold) {
        Operation claim = hold.claim();
        long released = Depth.heldUntil(hold);
        long lost = hold.firstLoss();
        long end = Math.min(released, Math.min(lost, hold.validUntil()));
        String ending = end == Nanos.NEVER
                ? "the history ended"
                : end == released
                        ? "its release was invoked"
                        : end == lost ? "its loss was reported" : "its declared validity ended";
        // A downgrade leaves no gap: its holder held at least as much before as after it, so the new hold is as good as
        // begun when it is invoked.
        long start = claim.call() instanceof Call.Downgrade ? claim.invoked() : claim.returned();
        end = Math.max(end, claim.invoked());
        return new Tenure(hold, start, end, Math.max(end, confirmedEnd(hold)), ending);
    }

    /** The release proves it: the hold was in force at the instant between its invocation and its return. */
    private static Tenure inferred(Hold hold) {
        List<Operation> proofs = hold.okReleases();
        long start = proofs.stream().mapToLong(Operation::returned).min().orElseThrow();
        long end = lastInvoked(proofs);
        return new Tenure(hold, start, end, end, RELEASED_OK);
    }

    /**
     * Inner releases of a re-entrant hold never reach the store and prove nothing; only when as many were answered ok
     * as there may be levels did the last of them, whichever it was, end the hold.
     */
    private static long confirmedEnd(Hold hold) {
        long end = Long.MIN_VALUE;
        List<Operation> releases = hold.okReleases();
        long levels =
                1 + hold.reentries().stream().filter(Operation::mayHaveHappened).count();
        if (releases.size() >= levels) {
            end = lastInvoked(releases);
        }
        List<Operation> downgrades =
                hold.downgrades().stream().filter(Operation::isOk).toList();
        return downgrades.isEmpty() ? end : Math.max(end, lastInvoked(downgrades));
    }

    private static long lastInvoked(List<Operation> operations) {
        return operations.stream().mapToLong(Operation::invoked).max().orElseThrow();
    }
}
