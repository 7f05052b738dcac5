// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * How a lock is held. Immutable; {@link #defaults()} has nothing set, and each method below gives a copy with one thing
 * set. What is not set here is taken from the {@linkplain Lockkeeper.Builder#defaults builder}, and then from the
 * built-in values. Values out of range are refused at once with an {@link IllegalArgumentException}.
 */
public final class LockOptions {
    private static final Duration BUILT_IN_LEASE = Duration.ofSeconds(30);
    private static final Duration LONGEST = Duration.ofHours(24);
    private static final Duration SHORTEST_KEPT_ALIVE = Duration.ofSeconds(1);
    private static final Duration SHORTEST_FIXED = Duration.ofMillis(100);
    private static final Duration LONGEST_DELAY = Duration.ofHours(1);
    private static final int LONGEST_LABEL = 200;

    private static final LockOptions NOTHING_SET = new LockOptions(null, false, null, null, null, null);

    private final @Nullable Duration lease;
    private final boolean fixed;
    private final @Nullable Duration maxHold;
    private final @Nullable Boolean fair;
    private final @Nullable Duration lockDelay;
    private final @Nullable String label;

    private LockOptions(
            @Nullable Duration lease,
            boolean fixed,
            @Nullable Duration maxHold,
            @Nullable Boolean fair,
            @Nullable Duration lockDelay,
            @Nullable String label) {
        this.lease = lease;
        this.fixed = fixed;
        this.maxHold = maxHold;
        this.fair = fair;
        this.lockDelay = lockDelay;
        this.label = label;
    }

    /** Nothing set. */
    public static LockOptions defaults() {
        return NOTHING_SET;
    }

    /**
     * A lease of this length, kept alive until it is released or the process dies. Others may have to wait for that long
     * for a lock whose holder died. Replaces a {@link #fixedLease(Duration)}. Built-in: 30 s.
     *
     * @param lease 1 s to 24 h, and no shorter than {@link Guarantees#shortestLease()}
     */
    public LockOptions lease(Duration lease) {
        Objects.requireNonNull(lease, "lease");
        checkRange("lease", lease, SHORTEST_KEPT_ALIVE, LONGEST);
        return new LockOptions(lease, false, maxHold, fair, lockDelay, label);
    }

    /**
     * A lease that ends after this time, whatever happens, unless {@link Lease#renew} is called. Replaces a
     * {@link #lease(Duration)}. Built-in: none. Such holds are not passed on inside this process.
     *
     * <p>The holder has less than this time: {@link Lease#isValid()} ends, and the loss is reported, before the store gives the
     * lock to others, so that the holder can stop in time. The warning takes a tenth of the lease, at most 2 s; safety margins
     * take one percent and 2 ms, the time that the request to the store took, and what stores that can fail over add. Of 3 s, at
     * most 2.67 s are left (89 %), of 1 min about 57.4 s.
     *
     * <p>In the thread style ({@link DistributedLock#lock()}), such a lock need not be unlocked. If it was not, the
     * thread's next attempt to lock the name after the loss throws {@link LeaseLostException}, once; the attempt after
     * that acquires the lock. Of leases that have ended in this way, a thread remembers the last ten of each keeper.
     * For older ones, an attempt to lock acquires the lock without an exception, and {@code unlock()} throws
     * {@link IllegalMonitorStateException} without a cause. Each such end is logged as a loss that nobody listens to,
     * if nobody does.
     *
     * @param lease 100 ms to 24 h, and no shorter than {@link Guarantees#shortestLease()}
     */
    public LockOptions fixedLease(Duration lease) {
        Objects.requireNonNull(lease, "lease");
        checkFixedLease(lease);
        return new LockOptions(lease, true, maxHold, fair, lockDelay, label);
    }

    /**
     * The longest time that a lease is kept alive; after it the hold is lost. Built-in: none. Such holds are not passed on
     * inside this process.
     *
     * @param maxHold 100 ms to 24 h
     */
    public LockOptions maxHold(Duration maxHold) {
        Objects.requireNonNull(maxHold, "maxHold");
        checkRange("maxHold", maxHold, SHORTEST_FIXED, LONGEST);
        return new LockOptions(lease, fixed, maxHold, fair, lockDelay, label);
    }

    /**
     * Strict first come, first served, also among the threads of this process; otherwise they pass a hold on among
     * themselves for a short while before other processes are served. On a store that does not guarantee
     * {@link Guarantee#FAIR} there is no such order, and a warning is logged once for each keeper (not for elections).
     * Built-in: false.
     */
    public LockOptions fair(boolean fair) {
        return new LockOptions(lease, fixed, maxHold, fair, lockDelay, label);
    }

    /**
     * How long the name stays closed after this holder vanished without releasing. Built-in: 0.
     *
     * @param lockDelay 0 to 1 h
     */
    public LockOptions lockDelay(Duration lockDelay) {
        Objects.requireNonNull(lockDelay, "lockDelay");
        checkLockDelay(lockDelay);
        return new LockOptions(lease, fixed, maxHold, fair, lockDelay, label);
    }

    /**
     * What is shown of this holder when the lock is inspected. Built-in: the empty string.
     *
     * @param label at most 200 bytes in UTF-8
     */
    public LockOptions label(String label) {
        Objects.requireNonNull(label, "label");
        int bytes = label.getBytes(StandardCharsets.UTF_8).length;
        if (bytes > LONGEST_LABEL) {
            throw new IllegalArgumentException(
                    "a label has at most " + LONGEST_LABEL + " bytes in UTF-8, this one " + bytes);
        }
        return new LockOptions(lease, fixed, maxHold, fair, lockDelay, label);
    }

    /** The length of the lease, fixed or kept alive; the built-in one when none is set. */
    public Duration lease() {
        return lease == null ? BUILT_IN_LEASE : lease;
    }

    /** The fixed lease, if one is set. */
    public Optional<Duration> fixedLease() {
        return fixed ? Optional.ofNullable(lease) : Optional.empty();
    }

    /** The longest time that a lease is kept alive, if one is set. */
    public Optional<Duration> maxHold() {
        return Optional.ofNullable(maxHold);
    }

    /** Whether {@code fair(true)} is set; false if it is not. */
    public boolean fair() {
        return fair != null && fair;
    }

    /** The lock-delay, if one is set. */
    public Optional<Duration> lockDelay() {
        return Optional.ofNullable(lockDelay);
    }

    /** The label; empty when none is set. */
    public String label() {
        return label == null ? "" : label;
    }

    /** These options, with what they leave open taken from {@code other}. */
    public LockOptions orElse(LockOptions other) {
        Objects.requireNonNull(other, "other");
        return new LockOptions(
                lease == null ? other.lease : lease,
                lease == null ? other.fixed : fixed,
                maxHold == null ? other.maxHold : maxHold,
                fair == null ? other.fair : fair,
                lockDelay == null ? other.lockDelay : lockDelay,
                label == null ? other.label : label);
    }

    @Override
    public boolean equals(@Nullable Object o) {
        return o instanceof LockOptions other
                && Objects.equals(lease, other.lease)
                && fixed == other.fixed
                && Objects.equals(maxHold, other.maxHold)
                && Objects.equals(fair, other.fair)
                && Objects.equals(lockDelay, other.lockDelay)
                && Objects.equals(label, other.label);
    }

    @Override
    public int hashCode() {
        return Objects.hash(lease, fixed, maxHold, fair, lockDelay, label);
    }

    @Override
    public String toString() {
        StringBuilder out = new StringBuilder("LockOptions[");
        append(out, fixed ? "fixedLease" : "lease", lease);
        append(out, "maxHold", maxHold);
        append(out, "fair", fair);
        append(out, "lockDelay", lockDelay);
        append(out, "label", label == null ? null : LockkeeperException.printable(label));
        return out.append(']').toString();
    }

    private static void append(StringBuilder out, String field, @Nullable Object value) {
        if (value != null) {
            out.append(out.charAt(out.length() - 1) == '[' ? "" : ", ")
                    .append(field)
                    .append('=')
                    .append(value);
        }
    }

    private static void checkFixedLease(Duration lease) {
        checkRange("fixedLease", lease, SHORTEST_FIXED, LONGEST);
    }

    private static void checkLockDelay(Duration lockDelay) {
        checkRange("lockDelay", lockDelay, Duration.ZERO, LONGEST_DELAY);
    }

    private static void checkRange(String what, Duration value, Duration least, Duration most) {
        if (value.compareTo(least) < 0 || value.compareTo(most) > 0) {
            throw new IllegalArgumentException(what + " is " + value + "; allowed is " + least + " to " + most);
        }
    }
}
