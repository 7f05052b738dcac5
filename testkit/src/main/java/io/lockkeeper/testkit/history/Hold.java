// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testkit.history;

import java.util.List;

/**
 * A claim together with all that was done to the hold it may have become.
 *
 * @param claim the acquisition or downgrade
 * @param validUntil the end of the declared validity, extensions included; {@link Nanos#NEVER} if none was declared
 * @param losses when the holder was told of loss
 */
record Hold(
        Operation claim,
        HistoryMode mode,
        int permits,
        List<Operation> reentries,
        List<Operation> releases,
        List<Operation> downgrades,
        long validUntil,
        List<Long> losses) {

    long firstLoss() {
        return losses.stream().mapToLong(Long::longValue).min().orElse(Nanos.NEVER);
    }

    List<Operation> okReleases() {
        return releases.stream().filter(Operation::isOk).toList();
    }

    boolean conflictsWith(Hold other) {
        return mode.conflictsWith(other.mode);
    }
}
