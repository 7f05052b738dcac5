// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.spi;

import io.lockkeeper.LeaseLost;
import java.time.Duration;
import java.util.List;

/**
 * The answer to {@link Renewals}, in the same order.
 *
 * @param holds what became of each hold
 * @param queued where each queued claim stands: {@link Answer.Queued}, {@link Answer.Granted}, or
 *     {@link Answer.Refused} with {@link Answer.Why#GONE}
 * @param at when the store decided it
 */
public record Renewal(List<Outcome> holds, List<Answer> queued, StoreTime at) {
    /** What became of a hold. */
    public sealed interface Outcome {}

    /** It goes on. */
    public record Kept(Duration remaining) implements Outcome {}

    /** It is being broken: the name stays closed until the client releases it, or its lease ends. */
    public record Recalled() implements Outcome {}

    /** It is not this client's any more; {@link LeaseLost.Reason#BROKEN} when it was broken at once. */
    public record Lost(LeaseLost.Reason reason) implements Outcome {}
}
