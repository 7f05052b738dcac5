// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.cli;

import io.lockkeeper.Guarantee;
import io.lockkeeper.Lease;
import io.lockkeeper.LockInfo;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.LockkeeperException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** What is to be locked, and how: arguments of {@code run} and {@code acquire}. */
final class Request {
    /**
     * What another process hands over has a short first lease until it is renewed. A machine that starts a hundred of us may be too
     * slow for that, and a command that has been started would have to be ended. A hold with a lock-delay, however short, is
     * confirmed with its whole lease before it is reported; one that cannot be is claimed again.
     */
    private static final Duration CONFIRMED = Duration.ofMillis(1);

    @Option(names = "--wait", paramLabel = "DURATION", description = "How long to wait. Default: as long as it takes.")
    private @Nullable String wait;

    @Option(
            names = "--lease",
            paramLabel = "DURATION",
            defaultValue = "30s",
            description = "How soon the lock is free after lockkeeper was killed or cut off, 1s to 24h"
                    + " (default: ${DEFAULT-VALUE}).")
    private String lease = "30s";

    @Option(names = "--shared", description = "Hold it together with others that share.")
    private boolean shared;

    @Option(names = "--permits", paramLabel = "K/N", description = "Take K permits of a semaphore of N.")
    private @Nullable String permits;

    @Option(names = "--label", paramLabel = "TEXT", description = "Shown by ls. Default: the command's name.")
    private @Nullable String label;

    @Parameters(index = "0", paramLabel = "NAME", description = "What is locked.")
    private String name = "";

    /** Waits for at most that long; null: as long as it takes. */
    private interface Acquisition {
        Optional<Lease> within(@Nullable Duration limit) throws InterruptedException;
    }

    String name() {
        return name;
    }

    Duration lease() {
        return Text.duration("--lease", "1s to 24h", lease);
    }

    private @Nullable Duration limit() {
        return wait == null ? null : Text.duration("--wait", "", wait);
    }

    /** Throws if an argument is wrong: before a store is opened, which takes time or makes files. */
    void check() {
        limit();
        lease();
        if (permits != null) {
            if (shared) {
                throw new Failure(Exit.USAGE, "--shared and --permits exclude each other");
            }
        }
        Rehearsal.of(keeper -> acquisition(keeper, options("")).within(Duration.ZERO));
    }

    /** Waits for the lock; empty if it was not acquired in time. */
    Optional<Lease> acquire(Lockkeeper keeper, String defaultLabel) throws InterruptedException {
        LockOptions options = options(defaultLabel);
        if (keeper.guarantees().has(Guarantee.LOCK_DELAY)) {
            options = options.lockDelay(CONFIRMED);
        }
        return acquisition(keeper, options).within(limit());
    }

    private LockOptions options(String defaultLabel) {
        return LockOptions.defaults().lease(lease()).label(label == null ? shortened(defaultLabel) : label);
    }

    private static String shortened(String text) {
        return text.length() > 50 ? text.substring(0, 50) : text;
    }

    private Acquisition acquisition(Lockkeeper keeper, LockOptions options) {
        if (permits != null) {
            int[] parts = permits(permits);
            var semaphore = keeper.semaphore(name, parts[1], options);
            return limit ->
                    limit == null ? Optional.of(semaphore.acquire(parts[0])) : semaphore.tryAcquire(parts[0], limit);
        }
        var lock = shared ? keeper.readWriteLock(name, options).readLock() : keeper.lock(name, options);
        return limit -> limit == null ? Optional.of(lock.acquire()) : lock.tryAcquire(limit);
    }

    private static int[] permits(String text) {
        String[] parts = text.split("/", -1);
        try {
            if (parts.length == 2) {
                int count = Integer.parseInt(parts[0]);
                int limit = Integer.parseInt(parts[1]);
                if (count >= 1 && count <= limit) {
                    return new int[] {count, limit};
                }
            }
        } catch (NumberFormatException e) {
            // The message below says what is allowed.
        }
        throw new Failure(
                Exit.USAGE,
                "--permits is '" + text + "'; it takes K/N, as in 1/4, where N is 1 to " + Integer.MAX_VALUE
                        + " and K is 1 to N");
    }

    /** Why it was not acquired in time. */
    String busy(Lockkeeper keeper) {
        Duration limit = limit();
        String message = "the lock " + name + " was not acquired within " + (limit == null ? "0" : Text.brief(limit));
        try {
            List<LockInfo.Hold> holders =
                    keeper.inspector().inspect(name).map(LockInfo::holders).orElse(List.of());
            if (!holders.isEmpty()) {
                LockInfo.Hold first = holders.get(0);
                message += "; held by " + Text.client(first) + " for " + Text.age(first.since());
            }
        } catch (LockkeeperException e) {
            // It is only to be helpful.
        }
        return message;
    }
}
