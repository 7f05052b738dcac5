// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.zookeeper;

import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Until when the leader has heard of a session for sure, and when the next sign of life is due.
 *
 * <p>A follower reports its clients to the leader twice per tick, and a tick is at most half a session's timeout: the leader
 * has heard of a client within a quarter of the timeout. So a contact that was answered is <em>proven</em> by a later request
 * that was sent at least a quarter of the timeout after that answer and that a quorum has agreed to: the follower has
 * reported in between, and the leader received its report before the request. Only proven contacts count.
 *
 * <p>Signs of life are sent about every twelfth of the timeout, a little less often if that lets one prove the third contact
 * before it. Then the latest proven contact is never older than about a third of the timeout, and two thirds are left.
 */
final class Contacts {
    /** The follower has reported after this part of the timeout. */
    private static final int REPORTED_WITHIN = 4;

    private static final int OFTEN = 12;
    private static final int SELDOM = 11;

    /** Contacts that are closer together than this part of the timeout count as one. */
    private static final int APART = 50;

    private static final long A_LITTLE = 1_000_000;

    private record Contact(long sent, long answered) {}

    private final long timeout;

    /** Those that are not proven yet, the oldest first; guarded by this. */
    private final Deque<Contact> unproven = new ArrayDeque<>();

    private volatile long heardOf;
    private volatile long last;

    /**
     * A session of which the leader has heard at {@code heardOf}.
     *
     * @param timeout after which the leader ends a session that it has not heard of
     */
    Contacts(long timeout, long heardOf, long now) {
        this.timeout = timeout;
        this.heardOf = heardOf;
        this.last = now;
    }

    /** The latest time at which the leader has heard of the session for sure. */
    long heardOf() {
        return heardOf;
    }

    /** When the request was sent that was answered last. */
    long last() {
        return last;
    }

    /** A quorum has agreed to a request that was sent at that time. */
    synchronized void agreed(long sent, long now) {
        Contact first = unproven.peekFirst();
        while (first != null && first.answered + timeout / REPORTED_WITHIN <= sent) {
            heardOf = Math.max(heardOf, first.sent);
            unproven.removeFirst();
            first = unproven.peekFirst();
        }
        if (first == null || sent - last >= timeout / APART) {
            unproven.addLast(new Contact(sent, now));
            last = Math.max(last, sent);
        }
    }

    /** When to send the next sign of life. */
    synchronized long due() {
        Contact first = unproven.peekFirst();
        long proves = first == null ? last : first.answered + timeout / REPORTED_WITHIN + A_LITTLE;
        return Math.max(last + timeout / OFTEN, Math.min(last + timeout / SELDOM, proves));
    }
}
