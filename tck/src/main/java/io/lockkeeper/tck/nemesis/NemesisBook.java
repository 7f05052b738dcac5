// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck.nemesis;

import io.lockkeeper.Lease;
import io.lockkeeper.testkit.history.Event;
import io.lockkeeper.testkit.history.History;
import io.lockkeeper.testkit.history.HistoryChecker;
import io.lockkeeper.testkit.history.HistoryMode;
import io.lockkeeper.testkit.history.Operation;
import io.lockkeeper.testkit.history.RecordedClaim;
import io.lockkeeper.testkit.history.RecordedClient;
import io.lockkeeper.testkit.history.RecordedStep;
import io.lockkeeper.testkit.history.Violation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The history of a {@link NemesisRun}, with what the checker cannot know: a hold that is broken, or whose keeper is closed,
 * counts only until the break or the closing <em>began</em>. Its holder is notified on another thread, and may write that
 * down after others have acquired the name, which is no defect. So a break or a closing is announced here first, and
 * that cuts the declared validity of the holds concerned.
 */
final class NemesisBook {
    /** The most tokens that a grant has, and so the holds that a break by the first of them may end. */
    private static final int BLOCK = 64;

    /** One defect shows in many contradictions: this many are shown for each name. */
    private static final int SHOWN = 4;

    final History history = new History();

    // Guarded by this object.
    private final Set<Entry> held = new HashSet<>();
    private final Map<String, List<Cut>> breaks = new ConcurrentHashMap<>();

    private record Cut(long token, long at) {
        boolean concerns(long other) {
            return other >= token && other - token < BLOCK;
        }
    }

    /** A claim, and the hold that it became. */
    final class Entry {
        final RecordedClaim claim;
        final String name;
        private final NemesisKeeper.Life life;
        private long token;
        private boolean granted;
        private boolean cut;

        private Entry(RecordedClaim claim, NemesisKeeper.Life life, String name) {
            this.claim = claim;
            this.life = life;
            this.name = name;
        }

        /** Granted, as the lease says; false when it is over already, so that nothing is known of its time. */
        boolean granted(Lease lease) {
            synchronized (NemesisBook.this) {
                long now = history.now();
                Duration remaining = lease.remaining();
                if (remaining.isZero()) {
                    return false;
                }
                token = lease.token();
                long until = now + remaining.toNanos();
                Long cutAt = cutAt();
                cut = cutAt != null && cutAt - until < 0;
                claim.ok(token, cutAt != null && cut ? cutAt : until);
                granted = true;
                held.add(this);
            }
            lease.onLost(loss -> claim.lost());
            return true;
        }

        private @Nullable Long cutAt() {
            Long first = life.closingAt;
            for (Cut broken : breaks.getOrDefault(name, List.of())) {
                if (broken.concerns(token) && (first == null || broken.at - first < 0)) {
                    first = broken.at;
                }
            }
            return first;
        }

        /** The lease may have been renewed. */
        void look(Lease lease) {
            synchronized (NemesisBook.this) {
                long now = history.now();
                Duration remaining = lease.remaining();
                if (granted && !cut && !remaining.isZero()) {
                    claim.extended(now + remaining.toNanos());
                }
            }
        }

        boolean isGranted() {
            return granted;
        }

        /** The release begins; null when there is nothing to say about it. */
        @Nullable
        RecordedStep releasing() {
            return granted ? claim.release() : null;
        }

        /** It was answered ok, and was the last level or not; what was cut may have ended before. */
        void released(@Nullable RecordedStep step, boolean last) {
            synchronized (NemesisBook.this) {
                if (last) {
                    held.remove(this);
                }
                if (step != null && !cut) {
                    step.ok();
                }
            }
        }

        /** The exclusive hold is over, or may be; what becomes of it. */
        Entry downgrading() {
            return new Entry(claim.downgrade(), life, name);
        }

        private void cutAt(long now) {
            cut = true;
            claim.extended(now);
        }
    }

    /** A claim is about to be made. */
    Entry claim(RecordedClient client, NemesisKeeper keeper, String name, HistoryMode mode, int permits) {
        RecordedClaim claim =
                mode == HistoryMode.PERMITS ? client.acquirePermits(name, permits) : client.acquire(name, mode);
        return new Entry(claim, keeper.life, name);
    }

    /** A keeper is about to be closed. */
    synchronized void closing(NemesisKeeper keeper) {
        long now = history.now();
        keeper.life.closingAt = now;
        held.stream().filter(entry -> entry.life == keeper.life).forEach(entry -> entry.cutAt(now));
    }

    /** The hold whose first token this is is about to be broken. */
    synchronized void breaking(String name, long token) {
        Cut broken = new Cut(token, history.now());
        breaks.computeIfAbsent(name, key -> new CopyOnWriteArrayList<>()).add(broken);
        held.stream()
                .filter(entry -> entry.name.equals(name) && broken.concerns(entry.token))
                .forEach(entry -> entry.cutAt(broken.at));
    }

    /** The contradictions, a few for each name with the events that make them up. */
    List<String> violations(HistoryChecker checker) {
        List<String> all = new ArrayList<>();
        Map<String, Integer> shown = new HashMap<>();
        for (Violation violation : checker.check(history)) {
            if (shown.merge(violation.name(), 1, Integer::sum) <= SHOWN) {
                all.add(violation + "\n" + eventsOf(violation));
            }
        }
        shown.forEach((name, number) -> all.add("\"" + name + "\": " + number + " altogether"));
        return all;
    }

    private String eventsOf(Violation violation) {
        Set<Long> concerned = violation.operations().stream().map(Operation::id).collect(Collectors.toSet());
        return history.events().stream()
                .filter(event -> concerns(event, concerned))
                .map(event -> "      " + event)
                .collect(Collectors.joining("\n"));
    }

    private static boolean concerns(Event event, Set<Long> operations) {
        if (event instanceof Event.Invoked e) {
            String verb = e.call().verb(); // a release or a downgrade names its hold
            return operations.contains(e.operation()) || operations.stream().anyMatch(id -> verb.endsWith("#" + id));
        } else if (event instanceof Event.Granted e) {
            return operations.contains(e.operation());
        } else if (event instanceof Event.Returned e) {
            return operations.contains(e.operation());
        } else if (event instanceof Event.Extended e) {
            return operations.contains(e.operation());
        }
        return event instanceof Event.Lost e && operations.contains(e.operation());
    }
}
