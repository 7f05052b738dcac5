// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.quorum;

import io.lockkeeper.spi.Ticker;
import java.time.Duration;

/**
 * The first use of members that are opened when they are needed. Connecting, and running everything for the first time in a JVM
 * that has just started, takes longer than a member may take for a step. So once, until a majority has been opened and has
 * answered, members are waited for as long as connecting may take; members that cannot be reached fail sooner.
 */
final class Opening {
    private enum Phase {
        NOT_BEGUN,
        BEGUN,
        OVER
    }

    private final Ensemble all;
    private final Ticker ticker;
    private final long most;
    private volatile Phase phase;
    private volatile long until;

    Opening(Ensemble all, Ticker ticker, Duration most) {
        this.all = all;
        this.ticker = ticker;
        this.most = most.toNanos();
        this.phase = most.isZero() ? Phase.OVER : Phase.NOT_BEGUN;
    }

    /** Opens the members, and waits until a majority has answered or cannot. */
    void await() {
        if (phase == Phase.OVER) {
            return;
        }
        Round<Markers.Look> looks =
                all.askAll(Member.Kind.STEP, member -> all.markers().look(member));
        looks.await(left(), () -> looks.answered() >= all.majority() || looks.settled() == all.size());
    }

    /** Members are about to be asked. */
    void begin() {
        if (phase == Phase.NOT_BEGUN) {
            synchronized (this) {
                if (phase == Phase.NOT_BEGUN) {
                    until = ticker.nanos() + most;
                    phase = Phase.BEGUN;
                }
            }
        }
    }

    /** A majority has answered what was asked for. */
    void end() {
        if (phase != Phase.OVER) {
            phase = Phase.OVER;
        }
    }

    /** For how many nanoseconds members are given the time to be opened; 0 when that is over, or has not begun. */
    long left() {
        return phase == Phase.BEGUN ? Math.max(0, until - ticker.nanos()) : 0;
    }
}
