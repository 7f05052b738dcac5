// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.quorum;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lockkeeper.Mode;
import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.spi.Answer;
import io.lockkeeper.spi.Claim;
import io.lockkeeper.spi.ClaimId;
import io.lockkeeper.spi.Grant;
import io.lockkeeper.spi.Renewal;
import io.lockkeeper.spi.Renewals;
import io.lockkeeper.spi.Terms;
import io.lockkeeper.tck.Tier;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Random interleavings of messages, delays, losses, restarts without memory and clocks that jump: conflicting holds never
 * overlap as long as no clock jumps ahead, and tokens rise whatever happens, as long as a minority of members forgets, and a minority
 * jumps further ahead than is allowed, until the others have come up with it.
 */
final class QuorumSimulationTest {
    private static final int RUNS = Tier.pick(60, 300, 20_000);
    private static final int STEPS = 4_000;

    private static final QuorumOptions OPTIONS =
            new QuorumOptions(Duration.ofMillis(250), Duration.ofSeconds(5), Duration.ofSeconds(1));

    /**
     * What goes wrong besides messages.
     *
     * @param shortLived clients are replaced all the time, so that none of them lives for as long as a member sits out
     * @param wrongAfterRestart the clocks of a minority jump far ahead and back while they sit out
     */
    private record Faults(
            boolean memory, boolean clocksBack, boolean clocksAhead, boolean shortLived, boolean wrongAfterRestart) {
        Faults(boolean memory, boolean clocksBack, boolean clocksAhead) {
            this(memory, clocksBack, clocksAhead, false, false);
        }
    }

    /** What is seen by one who watches all clients. */
    private static final class Witness {
        private final boolean mustExclude;
        private final List<Held> held = new ArrayList<>();
        private final Set<Long> tokens = new HashSet<>();
        private long lastExclusive;
        private long lastOfAny;
        private @Nullable SimulatedMember forgot;
        int acquisitions;

        /** How often a member lost its memory after another one had sat out. */
        int satOut;

        private static final class Held {
            final Mode mode;
            long until;

            Held(Mode mode, long until) {
                this.mode = mode;
                this.until = until;
            }
        }

        Witness(boolean mustExclude) {
            this.mustExclude = mustExclude;
        }

        Held acquired(Mode mode, Answer.Granted granted, long until, long now) {
            acquisitions++;
            held.removeIf(other -> other.until <= now);
            boolean exclusive = mode == Mode.EXCLUSIVE;
            if (mustExclude) {
                assertThat(held)
                        .as("held by others when a hold is reported")
                        .noneMatch(other -> exclusive || other.mode == Mode.EXCLUSIVE);
            }
            for (int i = 0; i < granted.block(); i++) {
                assertThat(tokens.add(granted.token() + i)).as("a token is new").isTrue();
            }
            assertThat(granted.token())
                    .as("it is greater than those of conflicting holds before")
                    .isGreaterThan(exclusive ? lastOfAny : lastExclusive);
            long last = granted.token() + granted.block() - 1;
            lastOfAny = Math.max(lastOfAny, last);
            lastExclusive = exclusive ? last : lastExclusive;
            Held mine = new Held(mode, until);
            held.add(mine);
            return mine;
        }

        void ended(Held mine) {
            held.remove(mine);
        }
    }

    private static Witness run(long seed, int size, Faults faults, SimulatedMember.@Nullable Mistake mistake) {
        Simulation simulation = new Simulation(seed, size, mistake);
        Witness witness = new Witness(!faults.clocksAhead);
        for (int c = 0; c < 3; c++) {
            int number = c;
            Random random = new Random(seed * 31 + c);
            simulation.client(() -> play(simulation, "client" + number, random, witness, faults.shortLived));
        }
        simulation.run(STEPS, 60, () -> mischief(simulation, faults, witness));
        return witness;
    }

    private static void mischief(Simulation simulation, Faults faults, Witness witness) {
        Random random = simulation.random();
        List<SimulatedMember> members = simulation.members();
        SimulatedMember one = members.get(random.nextInt(members.size()));
        int minority = members.size() - (members.size() / 2 + 1);
        int dice = random.nextInt(4);
        if (dice == 0 && faults.memory) {
            long others = members.stream().filter(m -> m != one && !m.counts()).count();
            if (others + 1 <= minority) {
                witness.satOut += witness.forgot != null && witness.forgot != one && members.size() == 3 ? 1 : 0;
                witness.forgot = one;
                one.loseMemory();
            }
        } else if (dice == 1 && faults.clocksBack) {
            one.jump(Duration.ofMillis(-random.nextInt(900)));
        } else if (dice == 2 && faults.clocksAhead) {
            one.jump(Duration.ofMillis(random.nextInt(400)));
        } else if (dice == 3 && faults.clocksAhead) {
            long others =
                    members.stream().filter(m -> m != one && m.hasBeenAhead()).count();
            if (one.hasBeenAhead() || others + 1 <= minority) {
                one.jumpAheadOrBack(Duration.ofMinutes(5));
            }
        } else if (dice == 3 && faults.wrongAfterRestart) {
            long others =
                    members.stream().filter(m -> m != one && m.hasBeenAhead()).count();
            if (one.isAhead() || (!one.counts() && others + 1 <= minority)) {
                one.jumpAheadOrBack(Duration.ofMinutes(5));
            }
        }
    }

    /** Acquires, renews, releases or forgets, again and again. */
    private static void play(Simulation simulation, String id, Random random, Witness witness, boolean shortLived) {
        QuorumStore store = simulation.connect(OPTIONS);
        for (int n = 1; n <= 40; n++) {
            simulation.rest(Duration.ofMillis(random.nextInt(60)));
            store = shortLived ? simulation.connect(OPTIONS) : store;
            Mode mode = random.nextInt(3) == 0 ? Mode.SHARED : Mode.EXCLUSIVE;
            Duration lease = Duration.ofMillis(1_000 + random.nextInt(2_000));
            Terms terms =
                    new Terms(mode, 1, 0, lease, Duration.ZERO, Duration.ofSeconds(1), 4, random.nextBoolean(), id, "");
            long began = simulation.now();
            Claim claim =
                    new Claim("a", new ClaimId(id, n), terms, store.time(store).plusMicros(2_000_000), false);
            try {
                if (store.claim(claim) instanceof Answer.Granted granted) {
                    long until = end(began, granted.remaining());
                    if (until > simulation.now()) {
                        Witness.Held mine = witness.acquired(mode, granted, until, simulation.now());
                        hold(simulation, store, Grant.of(claim, granted), lease, random, mine);
                        witness.ended(mine);
                    }
                    if (random.nextInt(8) > 0) {
                        store.release(Grant.of(claim, granted));
                    }
                }
            } catch (StoreUnavailableException e) {
                assertThat(e.worthRepeating()).isTrue();
            }
        }
    }

    private static void hold(
            Simulation simulation, QuorumStore store, Grant grant, Duration lease, Random random, Witness.Held mine) {
        for (int i = random.nextInt(4); i > 0; i--) {
            simulation.rest(Duration.ofMillis(random.nextInt(600)));
            long began = simulation.now();
            if (began >= mine.until) {
                return; // a hold that is past its validity is never renewed
            }
            try {
                Renewal renewal = store.renew(new Renewals(List.of(new Renewals.Hold(grant, lease, 0)), List.of()));
                if (simulation.now() < mine.until && renewal.holds().get(0) instanceof Renewal.Kept kept) {
                    mine.until = Math.max(mine.until, end(began, kept.remaining()));
                } else {
                    return;
                }
            } catch (StoreUnavailableException e) {
                assertThat(e.worthRepeating()).isTrue();
            }
        }
    }

    /** As a keeper counts: from before the request, less a margin. */
    private static long end(long began, Duration remaining) {
        return began + remaining.toNanos() - remaining.toNanos() / 100 - 2_000_000;
    }

    private static void runAll(int size, Faults faults) {
        int acquisitions = 0;
        int satOut = 0;
        for (long seed = 0; seed < RUNS; seed++) {
            try {
                Witness witness = run(seed, size, faults, null);
                acquisitions += witness.acquisitions;
                satOut += witness.satOut;
            } catch (AssertionError e) {
                throw new AssertionError("seed " + seed, e);
            }
        }
        assertThat(acquisitions)
                .as("acquisitions, so that this proves something")
                .isGreaterThan(3 * RUNS);
        if (faults.memory && size == 3) {
            assertThat(satOut).as("members that have sat out").isPositive();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {3, 5})
    void holdsNeverOverlapAndTokensRiseWhenMessagesAreLostAndLate(int size) {
        runAll(size, new Faults(false, false, false));
    }

    @ParameterizedTest
    @ValueSource(ints = {3, 4, 5})
    void norWhenMembersLoseTheirMemoryAndClocksGoBack(int size) {
        runAll(size, new Faults(true, true, false));
    }

    @ParameterizedTest
    @ValueSource(ints = {3, 5})
    void norWhenClientsThatLiveForAMomentSitOutTogether(int size) {
        runAll(size, new Faults(true, true, false, true, false));
    }

    @ParameterizedTest
    @ValueSource(ints = {3, 5})
    void norWhenTheirClocksAreWrongAfterTheRestart(int size) {
        runAll(size, new Faults(true, false, false, true, true));
    }

    @ParameterizedTest
    @ValueSource(ints = {3, 5})
    void tokensRiseAlsoWhenClocksJumpAhead(int size) {
        runAll(size, new Faults(true, true, true));
    }

    @Test
    void aMemberThatDoesNotRaiseItsFloorIsFound() {
        assertThatThrownBy(() -> find(SimulatedMember.Mistake.RAISES_NOTHING)).isInstanceOf(AssertionError.class);
    }

    @Test
    void aMemberThatForgetsAllButItsMarkerIsFound() {
        assertThatThrownBy(() -> find(SimulatedMember.Mistake.KEEPS_ITS_MARKER)).isInstanceOf(AssertionError.class);
    }

    private static void find(SimulatedMember.Mistake mistake) {
        for (long seed = 0; seed < 4_000; seed++) {
            run(seed, 3, new Faults(true, false, false), mistake);
        }
    }
}
