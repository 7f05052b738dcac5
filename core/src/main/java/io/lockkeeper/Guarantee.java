// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper;

/** What a store may promise. Features are refused where they are missing; qualities are documented. */
public enum Guarantee {
    /** Tokens of conflicting holds rise forever, so that a storage can reject writes from stale holders. */
    FENCED,
    /** Claims are served first come, first served. */
    FAIR,
    /** Holds survive a crash of the store. */
    DURABLE,
    /** A failover of the store never gives one lock to two clients. */
    FAILOVER_SAFE,
    /** A name can stay closed for a while after its holder vanished. */
    LOCK_DELAY,
    /** Read-write locks. */
    SHARED,
    /** Semaphores. */
    PERMITS,
    /** Latches. */
    LATCH,
    /** Waiters are notified; they need not poll. */
    PUSH,
    /** A client can lift the token floor of a name that it holds, which a quorum needs of its members. */
    RAISES_TOKENS
}
