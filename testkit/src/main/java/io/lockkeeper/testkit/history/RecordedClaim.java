// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testkit.history;

import java.util.OptionalLong;

/**
 * A claim, and the hold that it became. The hold belongs to the owner of this object; it is not bound to a thread.
 *
 * <p>A hold counts, and everybody else is expected to stay out, from the recorded {@code ok} to the earliest of: the
 * invocation of the release (the last one, if it was re-entered) that did not fail, the report of its loss, and the
 * end of the validity that its handle declared.
 */
public final class RecordedClaim extends RecordedCall {
    private final RecordedClient client;
    private final String name;
    private final HistoryMode mode;
    private volatile boolean granted;

    RecordedClaim(History history, RecordedClient client, String name, HistoryMode mode, long operation) {
        super(history, operation);
        this.client = client;
        this.name = name;
        this.mode = mode;
    }

    /**
     * Granted, valid until a time of the history's clock.
     *
     * @param token the fencing token
     * @param validUntilNanos never later than what the handle says: read the clock first, then ask what remains
     * @throws IllegalStateException if it has been answered
     */
    public void ok(long token, long validUntilNanos) {
        granted(OptionalLong.of(token), OptionalLong.of(history.sinceOrigin(validUntilNanos)));
    }

    /**
     * The claim was granted, but the hold had ended before that could be seen, for example because this process was paused. When it
     * ended is not known.
     */
    public void okButOver(long token) {
        granted(OptionalLong.of(token), OptionalLong.of(0)); // a hold never ends before its claim is invoked
    }

    /**
     * Granted, valid until released or reported lost.
     *
     * @throws IllegalStateException if it has been answered
     */
    public void ok(long token) {
        granted(OptionalLong.of(token), OptionalLong.empty());
    }

    /**
     * Granted by a lock that has no tokens, valid until released or reported lost.
     *
     * @throws IllegalStateException if it has been answered
     */
    public void ok() {
        granted(OptionalLong.empty(), OptionalLong.empty());
    }

    /**
     * A renewal moved the end of validity. One that is recorded after the former end is ignored: a validity that has ended is a
     * loss. Extensions that are not recorded only make the check weaker.
     */
    public void extended(long validUntilNanos) {
        history.add(new Event.Extended(history.elapsed(), operation, history.sinceOrigin(validUntilNanos)));
    }

    /** The holder was notified just now that the hold is lost. Call this first in the listener. */
    public void lost() {
        history.add(new Event.Lost(history.elapsed(), operation));
    }

    /** The holder was notified at this time, read from the history's clock, that the hold is lost. */
    public void lostAt(long nanos) {
        history.add(new Event.Lost(history.sinceOrigin(nanos), operation));
    }

    /** The release of the hold, or of one level of it. Also of a claim whose outcome is unknown. */
    public RecordedStep release() {
        return new RecordedStep(history, client.invoke(name, new Call.Release(OptionalLong.of(operation))));
    }

    /**
     * The holder enters again.
     *
     * @throws IllegalStateException if the claim was not granted
     */
    public RecordedReentry reenter() {
        requireGranted();
        return new RecordedReentry(history, client.invoke(name, new Call.Reenter(operation)));
    }

    /**
     * From exclusive to shared without a gap. If the answer is ok, this hold is over, and the other to be released.
     *
     * @throws IllegalStateException if the claim was not granted, or is not exclusive
     */
    public RecordedClaim downgrade() {
        requireGranted();
        if (mode != HistoryMode.EXCLUSIVE) {
            throw new IllegalStateException("Claim #" + operation + " is " + mode + ", not EXCLUSIVE");
        }
        long downgrade = client.invoke(name, new Call.Downgrade(operation));
        return new RecordedClaim(history, client, name, HistoryMode.SHARED, downgrade);
    }

    /** Declares that the claim must be answered in some way by then (a time of the history's clock). */
    public RecordedClaim answeredBy(long deadlineNanos) {
        due(deadlineNanos, false);
        return this;
    }

    /** Declares that the claim must be granted by then, for example one lease after the network was repaired. */
    public RecordedClaim grantedBy(long deadlineNanos) {
        due(deadlineNanos, true);
        return this;
    }

    private void granted(OptionalLong token, OptionalLong validUntil) {
        grant(token, validUntil);
        granted = true;
    }

    private void requireGranted() {
        if (!granted) {
            throw new IllegalStateException("Claim #" + operation + " has not been granted");
        }
    }
}
