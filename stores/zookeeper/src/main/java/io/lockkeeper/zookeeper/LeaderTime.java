// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.zookeeper;

/**
 * A reading of the leader's clock, which stamps every write. Readings of different leaders must not be compared.
 *
 * @param epoch which leader
 * @param millis what its clock showed
 * @param at our time when we learned it, no earlier than that
 */
record LeaderTime(long epoch, long millis, long at) {
    static final LeaderTime NONE = new LeaderTime(-1, 0, 0);

    /** How much slower than ours its clock may run: a hundredth. */
    private static final int DRIFT = 100;

    /** What its clock shows now, at least. */
    long now(long nanos) {
        long elapsed = Math.max(0, nanos - at);
        return millis + (elapsed - elapsed / DRIFT) / 1_000_000;
    }

    /** Whether it is by the same clock as a node last written in this transaction. */
    boolean isOf(long zxid) {
        return zxid >>> 32 == epoch;
    }
}
