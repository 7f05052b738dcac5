// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.model;

import io.lockkeeper.Mode;
import io.lockkeeper.spi.Claim;
import java.time.Duration;
import java.time.temporal.ChronoUnit;

/** One who holds the name. */
public final class Held {
    /** {@link #recalledDelay()} of a hold that nobody breaks. */
    public static final long NOT_RECALLED = -1;

    Claim claim;
    Mode mode;
    long token;
    int block;
    final long since;
    long expires;
    boolean confirmed;
    long recalledDelay;

    /**
     * A hold.
     *
     * @param recalledDelay negative, or, while the hold is being broken, the lock-delay to keep after it, in µs
     */
    public Held(
            Claim claim,
            Mode mode,
            long token,
            int block,
            long since,
            long expires,
            boolean confirmed,
            long recalledDelay) {
        this.claim = claim;
        this.mode = mode;
        this.token = token;
        this.block = block;
        this.since = since;
        this.expires = expires;
        this.confirmed = confirmed;
        this.recalledDelay = recalledDelay;
    }

    Held copy() {
        return new Held(claim, mode, token, block, since, expires, confirmed, recalledDelay);
    }

    /** The claim that was granted. */
    public Claim claim() {
        return claim;
    }

    /** How the name is held now. */
    public Mode mode() {
        return mode;
    }

    /** The first token. */
    public long token() {
        return token;
    }

    /** How many tokens. */
    public int block() {
        return block;
    }

    /** Since when, in µs of store time. */
    public long since() {
        return since;
    }

    /** When it ends unless it is renewed, in µs of store time. */
    public long expires() {
        return expires;
    }

    /** False while it has its short first lease. */
    public boolean confirmed() {
        return confirmed;
    }

    /** Negative, or, while the hold is being broken, the lock-delay to keep after it, in µs. */
    public long recalledDelay() {
        return recalledDelay;
    }

    boolean isRecalled() {
        return recalledDelay >= 0;
    }

    boolean covers(long candidate) {
        return candidate >= token && candidate - token < block;
    }

    /** Until when the name stays closed after this hold if it ends by expiry, in µs of store time; 0 if it does not. */
    long closesUntil() {
        if (isRecalled()) {
            return expires + recalledDelay;
        }
        return confirmed ? expires + NameState.micros(claim.terms().lockDelay()) : 0;
    }

    /** How long it lasts unless it is renewed. */
    Duration left(long now) {
        return Duration.of(expires - now, ChronoUnit.MICROS);
    }
}
