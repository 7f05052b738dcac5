// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.model;

import io.lockkeeper.LockInfo;
import io.lockkeeper.Mode;
import io.lockkeeper.Sequencer;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** What others may see of a name. It changes nothing, so holders that have expired may still be in the record. */
final class NameDescription {
    private NameDescription() {}

    static boolean has(List<Held> holders, Sequencer sequencer, long now) {
        for (Held held : holders) {
            if (held.covers(sequencer.token()) && held.expires > now) {
                return held.mode == sequencer.mode() && !held.isRecalled();
            }
        }
        return false;
    }

    static Optional<LockInfo> of(
            String name, List<Held> holders, Collection<Waiting> queue, long closedUntil, long now) {
        List<LockInfo.Hold> holds = new ArrayList<>();
        Held holder = null;
        long closed = closedUntil;
        for (Held held : holders) {
            if (held.expires <= now) {
                closed = Math.max(closed, held.closesUntil());
            } else {
                holder = held;
                holds.add(hold(held, now));
            }
        }
        List<Waiting> waiters =
                queue.stream().filter(waiting -> waiting.until > now).toList();
        Duration closedFor = Duration.of(Math.max(0, closed - now), ChronoUnit.MICROS);
        if (holds.isEmpty() && waiters.isEmpty() && closedFor.isZero()) {
            return Optional.empty();
        }
        return Optional.of(
                new LockInfo(name, mode(holder, waiters), limit(holder, waiters), holds, waiters.size(), closedFor));
    }

    private static LockInfo.Hold hold(Held held, long now) {
        return new LockInfo.Hold(
                held.claim.terms().client(),
                held.claim.terms().label(),
                held.token,
                held.claim.terms().permits(),
                Instant.EPOCH.plus(held.since, ChronoUnit.MICROS),
                held.left(now));
    }

    private static Mode mode(@Nullable Held holder, List<Waiting> waiters) {
        if (holder != null) {
            return holder.mode;
        }
        return waiters.isEmpty() ? Mode.EXCLUSIVE : waiters.get(0).claim.terms().mode();
    }

    private static int limit(@Nullable Held holder, List<Waiting> waiters) {
        if (holder != null) {
            return holder.claim.terms().limit();
        }
        return waiters.isEmpty() ? 0 : waiters.get(0).claim.terms().limit();
    }
}
