// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.spi;

import io.lockkeeper.Guarantees;
import io.lockkeeper.LockInfo;
import io.lockkeeper.Sequencer;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * Where the truth about locks lives. A store does <b>one atomic step at a time</b>, as a plain blocking call bounded by
 * the operation timeout; it never waits for a lock, retries or runs user code. It may own one thread that turns server
 * events (or one batched poll for all its waiters) into {@link Signals}.
 *
 * <p>A step that cannot be carried out throws {@link io.lockkeeper.StoreUnavailableException}: it may have been carried
 * out all the same, and the keeper repeats it. Everything here must be harmless when repeated, and when a late copy of it
 * arrives.
 *
 * <p>The law that every store obeys, rule by rule, is in {@code docs/law.md}; the module {@code lockkeeper-tck}
 * proves it.
 */
public interface LockStore extends AutoCloseable {
    /** An id that is kept in the store itself, so that all clients know the same store by the same id. */
    String id();

    /** What this store promises. No I/O. */
    Guarantees guarantees();

    /** The store's time in a lane; asked once, all later answers carry it. */
    StoreTime time(Object lane);

    /**
     * Claims a name. The same id again gives the same grant with what remains of it, or the same place in the queue; an id
     * that was used up, or comes late, is refused.
     */
    Answer claim(Claim claim);

    /**
     * Renews holds and refreshes queued claims of one lane, in one round trip. A renewal confirms a hold. Refreshing a
     * queued claim never confirms, lengthens or re-creates a hold: it reports a grant that it finds.
     */
    Renewal renew(Renewals batch);

    /**
     * Ends a hold and lets the next in; acknowledges a recall.
     *
     * @return false when the store knows of no such hold
     */
    boolean release(Grant grant);

    /**
     * Turns an exclusive hold into a shared one, with no gap, and lets waiting readers in. The same again gives the same.
     *
     * @return the shared grant, with the next token of the block; empty when the store knows of no such hold
     */
    Optional<Grant> downgrade(Grant grant);

    /** Leaves the queue; gives back what was granted meanwhile; also when the claim is still on its way. */
    void withdraw(Claim claim);

    /** A step on a latch. */
    LatchState latch(LatchStep step);

    /** What is known of a name in use. */
    Optional<LockInfo> inspect(String name);

    /** The names in use that begin with {@code prefix}, in order, at most {@code limit}. */
    List<LockInfo> list(String prefix, int limit);

    /** Whether the hold that the sequencer names is in force. */
    boolean check(Sequencer sequencer);

    /**
     * Breaks the hold that has this token.
     *
     * @param lockDelay how long the name stays closed after the hold has ended
     * @param now whether to end it at once, and to say so to renewals of it until its lease would have ended; otherwise the holder
     *     is recalled, and the name stays closed until it acknowledges or its lease ends
     * @return false when there is no such hold
     */
    boolean breakHold(String name, long token, Duration lockDelay, boolean now);

    /** Has {@code signals} told what concerns the claims of this client. */
    Subscription listen(String client, Signals signals);

    /** What fails together with this name: a shard, a member, or the whole store. No I/O. */
    default Object lane(String name) {
        return this;
    }

    /** How far this store's clocks may be apart where it can fail over; taken off the validity of every hold. */
    default Duration skew() {
        return Duration.ZERO;
    }

    /**
     * Whether claims can be decided now; asked after a failure, when another step has been answered. A store that answers any step
     * can; one that is made of several may answer some steps while it cannot decide a claim.
     */
    default boolean canDecideClaims() {
        return true;
    }

    /** The life of the session in which this claim is held, on a store that has sessions. No I/O. */
    default Liveness liveness(Claim claim) {
        return Liveness.FOREVER;
    }

    /** The clock that the keeper measures by. */
    default Ticker ticker() {
        return Ticker.SYSTEM;
    }

    /** Frees what the store owns; ends no hold. */
    @Override
    void close();
}
