// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.zookeeper;

import io.lockkeeper.spi.Claim;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * A claim of this client, as we know it. A thread that performs a step of it holds its lock; steps of different claims
 * do not wait for each other.
 */
final class Entry {
    enum State {
        /** Not made yet, or its outcome is unknown. */
        NEW,
        QUEUED,
        GRANTED,
        ENDED
    }

    private static final long GRACE = 500_000_000;

    final ReentrantLock lock = new ReentrantLock();
    final String parent;

    volatile Claim claim;
    volatile State state = State.NEW;

    /** When it ends by itself, by our clock, unless it is renewed or refreshed; then when that is tried again. */
    volatile long endsAt = Long.MAX_VALUE;

    volatile @Nullable Session session;

    volatile @Nullable ClaimNode node;

    // Guarded by the lock.

    /** Whether a copy was sent whose outcome we do not know. */
    boolean unknown;

    /** Whether a downgrade was sent whose outcome we do not know. */
    boolean mayBeShared;

    long czxid;
    int version;
    NodeData data;
    boolean hasMarker;

    /** A write of the node whose answer nobody has looked at yet. */
    @Nullable
    CompletableFuture<Reply> pending;

    /** Whether we have been notified that the hold is being broken. */
    volatile boolean recalled;

    boolean toldRecall;

    /** When the copy was sent whose outcome is not known, or the one that made the node. */
    long sent;

    /** The node whose deletion alone grants this claim, if there is one. */
    @Nullable
    String lastBefore;

    /**
     * Whether that node belongs to our own session: then its deletion is a grant only if one of our steps deleted it.
     */
    boolean lastBeforeIsOurs;

    /** How many disconnects there were before that node was read: after another one, its deletion is no grant. */
    long lastBeforeSince;

    /** The nodes that it waits for; see {@link Watches}. */
    Set<String> awaited = Set.of();

    /** The listing that said last that it has to wait; see {@link Listing#changed}. */
    long listed;

    /** What that listing said: how many wait before it, who is in front, and whether the name was closed to all. */
    int ahead;

    List<String> front = List.of();
    boolean closed;

    /** How much of what a session may have it has taken; see {@link ClientState#reserve}. */
    final AtomicInteger reserved = new AtomicInteger();

    Entry(Claim claim, String parent) {
        this.claim = claim;
        this.parent = parent;
        this.data = NodeData.of(claim.terms(), NodeData.State.QUEUED, false);
    }

    /**
     * When it is removed if nobody asks for it before. A claim whose patience has ended is not granted any more, but
     * makes room a little later, so that others that were forgotten together with it are not granted one after the
     * other.
     */
    long removedAt() {
        if (state != State.QUEUED || endsAt == Long.MAX_VALUE) {
            return endsAt;
        }
        return endsAt + Math.min(GRACE, claim.terms().patience().toNanos());
    }

    String path() {
        return parent + "/" + theNode().name();
    }

    ClaimNode theNode() {
        ClaimNode known = node;
        if (known == null) {
            throw new IllegalStateException("a claim without a node");
        }
        return known;
    }

    String marker() {
        return parent + "/" + Listing.MARKER + claim.id();
    }

    boolean isConfirmed() {
        return data.state() == NodeData.State.GRANTED;
    }

    boolean isIn(Session other) {
        return session == other;
    }
}
