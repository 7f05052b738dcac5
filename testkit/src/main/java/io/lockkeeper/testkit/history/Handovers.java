// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testkit.history;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** How promptly locks went from one holder to the next, as far as a history shows it: figures for people, not a check. */
public final class Handovers {
    private Handovers() {}

    /** How many claims were granted. */
    public static long grants(History history) {
        return history.events().stream().filter(e -> e instanceof Event.Granted).count();
    }

    /**
     * The longest time from when an exclusive lock was free, as far as is known, to when one had it who had been waiting. A hold
     * that was neither released nor lost counts until the end of the validity that was last recorded.
     */
    public static Duration longestIdle(History history, String lock) {
        Map<Long, Turn> turns = new HashMap<>();
        Map<Long, Long> releases = new HashMap<>();
        for (Event event : history.events()) {
            if (event instanceof Event.Invoked e && e.name().equals(lock)) {
                if (e.call() instanceof Call.Acquire) {
                    turns.computeIfAbsent(e.operation(), o -> new Turn()).asked = e.at();
                } else if (e.call() instanceof Call.Release release
                        && release.hold().isPresent()) {
                    releases.put(e.operation(), release.hold().getAsLong());
                }
            }
        }
        history.events().forEach(event -> add(event, turns, releases));
        List<Turn> inOrder = new ArrayList<>();
        turns.values().stream()
                .filter(t -> t.token.isPresent())
                .sorted(Comparator.comparingLong(t -> t.token.orElseThrow()))
                .forEach(inOrder::add);
        long longest = 0;
        for (int i = 1; i < inOrder.size(); i++) {
            Turn next = inOrder.get(i);
            longest = Math.max(longest, next.had - Math.max(inOrder.get(i - 1).free(), next.asked));
        }
        return Duration.ofNanos(longest);
    }

    private static void add(Event event, Map<Long, Turn> turns, Map<Long, Long> releases) {
        if (event instanceof Event.Granted e) {
            update(turns.get(e.operation()), turn -> {
                turn.token = e.token();
                turn.had = e.at();
                turn.until(e.validUntil().orElse(e.at()));
            });
        } else if (event instanceof Event.Extended e) {
            update(turns.get(e.operation()), turn -> turn.until(e.validUntil()));
        } else if (event instanceof Event.Lost e) {
            update(turns.get(e.operation()), turn -> turn.ended = Math.min(turn.ended, e.at()));
        } else if (event instanceof Event.Returned e && e.outcome() == Outcome.OK) {
            Long released = releases.get(e.operation());
            if (released != null) {
                update(turns.get(released), turn -> turn.ended = Math.min(turn.ended, e.at()));
            }
        }
    }

    /** Nothing, for what concerns another name. */
    private static void update(@Nullable Turn turn, Consumer<Turn> change) {
        if (turn != null) {
            change.accept(turn);
        }
    }

    /** One claim. */
    private static final class Turn {
        private long asked;
        private long had;
        private OptionalLong token = OptionalLong.empty();
        private long validUntil = Long.MIN_VALUE;
        private long ended = Long.MAX_VALUE;

        void until(long end) {
            validUntil = Math.max(validUntil, end);
        }

        long free() {
            return ended == Long.MAX_VALUE ? validUntil : ended;
        }
    }
}
