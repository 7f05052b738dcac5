// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.spi;

/**
 * A moment on a store's own clock. Two moments can be compared only when they are of the same incarnation: a restart or
 * a fail-over to another machine may begin a new one.
 *
 * @param incarnation which clock
 * @param micros microseconds on it
 */
public record StoreTime(long incarnation, long micros) {
    /** Whether this moment lies behind {@code now}; true also when it is of another incarnation. */
    public boolean isPast(StoreTime now) {
        return incarnation != now.incarnation || micros < now.micros;
    }

    /** The moment that many microseconds later. */
    public StoreTime plusMicros(long more) {
        return new StoreTime(incarnation, micros + more);
    }
}
