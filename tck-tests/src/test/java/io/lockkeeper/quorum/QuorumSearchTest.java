// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.quorum;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.quorum.QuorumState.Scope;
import io.lockkeeper.quorum.QuorumState.Variant;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Goes through all states of {@link QuorumSpec}; the mistakes prove that it would see one. */
final class QuorumSearchTest {
    /** Looks at every state that can be reached, or at those near the start first; what is wrong with one of them. */
    private static Optional<String> search(Variant variant, Scope scope, boolean nearestFirst, int least) {
        LongSet seen = new LongSet();
        ArrayDeque<QuorumSpec> open = new ArrayDeque<>();
        QuorumSpec start = new QuorumSpec(variant, scope);
        seen.add(start.key());
        open.add(start);
        while (!open.isEmpty()) {
            QuorumSpec state = nearestFirst ? open.removeFirst() : open.removeLast();
            for (QuorumSpec next : state.next()) {
                if (next.wrong != null) {
                    return Optional.of(next.wrong);
                }
                if (seen.add(next.key())) {
                    open.add(next);
                }
            }
        }
        assertThat(seen.size()).as("states looked at").isGreaterThan(least);
        return Optional.empty();
    }

    @Test
    void inNoStateDoTwoHoldOrTokensFall() {
        assertThat(search(Variant.RIGHT, new Scope(true, false, 0, 2), false, 2_000_000))
                .isEmpty();
    }

    @Test
    @Tag("full")
    void norWhenAMemberLosesItsMemory() {
        assertThat(search(Variant.RIGHT, new Scope(false, true, 1, 1), false, 1_000_000))
                .isEmpty();
    }

    @Test
    @Tag("full")
    void norWhenMembersLoseTheirMemoryAgainAndAgain() {
        assertThat(search(Variant.RIGHT, new Scope(true, true, QuorumState.ALWAYS, 1), false, 4_000_000))
                .isEmpty();
        assertThat(search(Variant.RIGHT, new Scope(false, true, QuorumState.ALWAYS, 2), false, 8_000_000))
                .isEmpty();
    }

    @ParameterizedTest
    @CsvSource({
        "NO_WRITE_BACK, false, true, 0, 1, false",
        "NO_MARKER, false, true, 1, 1, true",
        "LOOKS_FIRST, false, false, 1, 1, true",
        "SITS_OUT_TOO_SHORT, false, true, 1, 1, true",
        "RENEWS_WITHOUT_MAJORITY, true, true, 0, 2, false",
        "COUNTS_FROM_THE_ANSWER, false, true, 0, 2, false"
    })
    void eachMistakeIsFound(
            Variant variant, boolean renews, boolean looksAtOnce, int losses, int lease, boolean nearestFirst) {
        assertThat(search(variant, new Scope(renews, looksAtOnce, losses, lease), nearestFirst, 0))
                .isPresent();
    }

    /** With a second loss there are more states than fit into memory: what that can do is followed below. */
    @Test
    @Tag("full")
    void norWhenClientsThatLiveForAMomentSitOutTogetherAndAClockJumps() {
        assertThat(search(Variant.RIGHT, new Scope(false, true, 1, 1, true), false, 10_000_000))
                .isEmpty();
    }

    /**
     * A member has granted one client, has lost its memory, and another client comes. As above, the whole search would be long:
     * this goes through what clients that live for a moment can see, and the steps of a clock.
     */
    @ParameterizedTest
    @CsvSource({
        "RIGHT, 0, 1, false",
        "RIGHT, 1, 1, false",
        "RIGHT, 2, 1, false",
        "DATED_BY_ITS_OWN_CLOCK, 0, 1, true",
        "DATED_BY_ANY_CLOCK, 1, 1, true",
        "DATE_OUTLIVES_THE_MARKER, 0, 2, true"
    })
    void clientsThatLiveForAMomentSitOutTogether(Variant variant, int jumps, int losses, boolean goesWrong) {
        QuorumSpec state = new QuorumSpec(variant, new Scope(false, true, losses, 1, true));
        if (variant == Variant.DATE_OUTLIVES_THE_MARKER) {
            state = follow(state, List.of("member 0 loses", "client 1 is granted by 0", "client 1 ends"));
            state = follow(state, List.of("time passes", "time passes", "client 1 is granted by 0", "client 1 ends"));
        }
        state = follow(state, List.of("client 0 is granted by 0", "client 0 is granted by 1", "client 0 chooses"));
        state = follow(state, List.of("client 0 writes to 0", "client 0 writes to 1", "client 0 holds"));
        state = follow(state, List.of("member 0 loses its memory", "client 1 is granted by 0"));
        // It sits out, and is dated; another client comes in its place.
        state = follow(state, List.of("client 1 ends", "member " + jumps + " jumps"));
        state = follow(state, List.of("client 1 is granted by 0", "client 1 is granted by 2"));
        Optional<QuorumSpec> counted = tryToFollow(state, "client 1 chooses");
        assertThat(counted.isPresent()).isEqualTo(goesWrong);
        if (goesWrong) {
            List<String> rest = List.of("client 1 writes to 0", "client 1 writes to 2", "client 1 holds");
            assertThat(follow(counted.orElseThrow(), rest).wrong).isNotNull();
        }
    }

    private static QuorumSpec follow(QuorumSpec start, List<String> steps) {
        QuorumSpec state = start;
        for (String step : steps) {
            state = tryToFollow(state, step).orElseThrow(() -> new AssertionError("no step: " + step));
        }
        return state;
    }

    /** The one mistake that lies too deep to be stumbled upon: a second loss while another client sits out the first. */
    @ParameterizedTest
    @EnumSource(
            value = Variant.class,
            names = {"RIGHT", "NO_PROVISIONAL_MARKER"})
    void asecondLossIsSatOutFromItsOwnBeginning(Variant variant) {
        QuorumSpec state = new QuorumSpec(variant, new Scope(false, true, 2, 1));
        for (String step : List.of(
                "member 0 loses its memory",
                "client 0 is granted by 0",
                "client 0 ends",
                "client 1 is granted by 0",
                "client 1 ends",
                "time passes",
                "time passes",
                "client 1 is granted by 0",
                "client 1 is granted by 1",
                "client 1 chooses a token",
                "client 1 writes to 0",
                "client 1 writes to 1",
                "client 1 holds",
                "member 0 loses its memory",
                "client 0 is granted by 0",
                "client 0 is granted by 2")) {
            state = tryToFollow(state, step).orElseThrow();
        }
        if (variant == Variant.RIGHT) {
            assertThat(tryToFollow(state, "client 0 chooses a token")).isEmpty();
            return;
        }
        for (String step :
                List.of("client 0 chooses a token", "client 0 writes to 0", "client 0 writes to 2", "client 0 holds")) {
            state = tryToFollow(state, step).orElseThrow();
        }
        assertThat(state.wrong).isNotNull();
    }

    private static Optional<QuorumSpec> tryToFollow(QuorumSpec state, String step) {
        return state.next().stream()
                .filter(next -> next.step.startsWith(step) && !next.step.endsWith("answer lost"))
                .findFirst();
    }

    /** A set of numbers that are spread evenly, which needs little memory. */
    private static final class LongSet {
        private long[] table = new long[1 << 20];
        private int size;

        boolean add(long number) {
            if (2 * size > table.length) {
                long[] old = table;
                table = new long[2 * old.length];
                for (long each : old) {
                    if (each != 0) {
                        put(each);
                    }
                }
            }
            boolean isNew = put(number == 0 ? 1 : number);
            size += isNew ? 1 : 0;
            return isNew;
        }

        private boolean put(long number) {
            int i = (int) number & (table.length - 1);
            for (; table[i] != 0; i = (i + 1) & (table.length - 1)) {
                if (table[i] == number) {
                    return false;
                }
            }
            table[i] = number;
            return true;
        }

        int size() {
            return size;
        }
    }
}
