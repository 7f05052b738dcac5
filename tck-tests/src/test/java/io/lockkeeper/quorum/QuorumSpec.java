// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.quorum;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A small model of the quorum algorithm: three members, two clients, exclusive holds of one name, time in ticks. A state has all
 * the states that one step leads to: a message arrives or is lost, a client decides, gives up or releases, a member loses its
 * memory, time passes. In every reachable state no two clients hold validly, and each hold reported has a greater token
 * than all before it.
 *
 * <p>Times are kept as what is left, tokens as their distance from the members' clock, and what can make no difference any
 * more is forgotten; so there are finitely many states although time, attempts and losses go on forever. Only two things are
 * bounded: tokens run ahead of the clock by at most {@link #MOST_AHEAD} (which is the allowed lead), and memory is lost by a
 * minority: while all other members count. The members are alike, and so are the clients: of states that differ in their order
 * only one is looked at.
 */
final class QuorumSpec extends QuorumState {
    /** What is wrong with this state; null when nothing is. */
    @Nullable
    String wrong;

    /** The step that led here. */
    String step = "start";

    /** All members count, nobody does anything. */
    QuorumSpec(Variant variant, Scope scope) {
        super(variant, scope);
    }

    private QuorumSpec(QuorumSpec o) {
        super(o);
    }

    private void to(List<QuorumSpec> all, String what, Consumer<QuorumSpec> change) {
        QuorumSpec next = new QuorumSpec(this);
        next.step = what;
        change.accept(next);
        all.add(next);
    }

    // ---- Steps ----

    List<QuorumSpec> next() {
        List<QuorumSpec> all = new ArrayList<>();
        to(all, "time passes", QuorumSpec::tick);
        for (int m = 0; m < MEMBERS; m++) {
            int member = m;
            if (losses > 0 && othersCount(m)) {
                to(all, "member " + m + " loses its memory", s -> s.lose(member));
            }
            if (scope.together() && (clock[m] != 0 || Arrays.stream(clock).allMatch(ahead -> ahead == 0))) {
                // By as much as a member sits out: a larger jump has no further effect.
                to(all, "member " + m + " jumps", s -> s.clock[member] = clock[member] == 0 ? scope.lease() + 1 : 0);
            }
        }
        for (int c = 0; c < CLIENTS; c++) {
            stepsOf(c, all);
        }
        return all;
    }

    private void stepsOf(int c, List<QuorumSpec> all) {
        switch (phase[c]) {
            case CLAIMING -> claiming(c, all);
            case WRITING -> writing(c, all);
            case HOLDING -> {
                ends(c, all);
                if (scope.renews()) {
                    to(all, "client " + c + " begins to renew", s -> s.beginRenewal(c));
                }
            }
            case RENEWING -> renewing(c, all);
            default -> throw new AssertionError();
        }
    }

    private void claiming(int c, List<QuorumSpec> all) {
        for (int m = 0; m < MEMBERS; m++) {
            int member = m;
            int known = knows[c][m];
            if (known == (variant == Variant.LOOKS_FIRST ? LOOKED : NONE)
                    && holder[m] == FREE
                    && floor[m] < MOST_AHEAD) {
                to(all, "client " + c + " is granted by " + m, s -> {
                    s.claim(c, member, true);
                    if (scope.looksAtOnce() && s.knows[c][member] == GRANTED) {
                        s.look(c, member);
                    }
                });
                to(all, "client " + c + " is granted by " + m + ", answer lost", s -> s.claim(c, member, false));
            } else if (known == (variant == Variant.LOOKS_FIRST ? NONE : GRANTED)) {
                to(all, "client " + c + " looks at " + m, s -> s.look(c, member));
            }
        }
        if (count(c, COUNTED) >= MAJORITY) {
            to(all, "client " + c + " chooses a token", s -> s.choose(c));
        }
        ends(c, all);
    }

    private void writing(int c, List<QuorumSpec> all) {
        for (int m = 0; m < MEMBERS; m++) {
            int member = m;
            if (knows[c][m] == COUNTED) {
                to(all, "client " + c + " writes to " + m, s -> s.write(c, member));
            }
        }
        boolean written = variant == Variant.NO_WRITE_BACK || count(c, WRITTEN) >= MAJORITY;
        if (written && isValid(c)) {
            to(all, "client " + c + " holds, token " + token[c], s -> s.report(c));
        }
        ends(c, all);
    }

    private void renewing(int c, List<QuorumSpec> all) {
        for (int m = 0; m < MEMBERS; m++) {
            int member = m;
            if (knows[c][m] == COUNTED) {
                to(all, "client " + c + " renews at " + m, s -> s.write(c, member));
            } else if (knows[c][m] == NONE && count(c, WRITTEN) >= MAJORITY && holder[m] == FREE) {
                to(all, "client " + c + " heals at " + m, s -> s.heal(c, member));
            }
        }
        to(all, "client " + c + " has renewed", s -> s.renewed(c));
    }

    /** It releases or gives up, or dies and tells nobody; the client is then as one that has just come. */
    private void ends(int c, List<QuorumSpec> all) {
        to(all, "client " + c + " ends", s -> s.end(c, true));
        to(all, "client " + c + " dies", s -> s.end(c, false));
    }

    // ---- What happens ----

    private void tick() {
        for (int m = 0; m < MEMBERS; m++) {
            left[m] = Math.max(0, left[m] - 1);
            holder[m] = left[m] == 0 ? FREE : holder[m];
            floor[m] = Math.max(-1, floor[m] - TOKENS_A_TICK);
            since[m] = since[m] == UNDATED ? UNDATED : Math.min(scope.lease() + 1, since[m] + 1);
        }
        lastToken = older(lastToken);
        for (int c = 0; c < CLIENTS; c++) {
            token[c] = token[c] == 0 && phase[c] < WRITING ? 0 : older(token[c]);
            roundAge[c] = phase[c] == WRITING || phase[c] == RENEWING ? Math.min(scope.lease(), roundAge[c] + 1) : 0;
            for (int m = 0; m < MEMBERS; m++) {
                boolean isOffer = phase[c] == CLAIMING && (knows[c][m] == GRANTED || knows[c][m] == COUNTED);
                offered[c][m] = isOffer ? older(offered[c][m]) : 0;
                surely[c][m] = Math.max(0, surely[c][m] - 1);
                out[c][m] = out[c][m] < 0 ? -1 : Math.min(scope.lease() + 1, out[c][m] + 1);
            }
            if (phase[c] >= HOLDING && !isValid(c)) {
                end(c, false); // it knows that its hold has ended
            }
        }
    }

    private static int older(int aToken) {
        return Math.max(OLD, aToken - TOKENS_A_TICK);
    }

    private boolean othersCount(int member) {
        for (int m = 0; m < MEMBERS; m++) {
            if (m != member && marker[m] != FINAL) {
                return false;
            }
        }
        return true;
    }

    private void lose(int m) {
        losses -= losses == ALWAYS ? 0 : 1;
        holder[m] = FREE;
        left[m] = 0;
        floor[m] = -1;
        marker[m] = BLANK;
        since[m] = variant == Variant.DATE_OUTLIVES_THE_MARKER ? since[m] : UNDATED;
        for (int c = 0; c < CLIENTS && variant != Variant.NO_PROVISIONAL_MARKER; c++) {
            out[c][m] = -1;
        }
    }

    private void claim(int c, int m, boolean heard) {
        holder[m] = c + 1;
        left[m] = scope.lease();
        floor[m] = Math.max(floor[m] + 1, 0);
        if (heard) {
            offered[c][m] = floor[m];
            surely[c][m] = variant == Variant.NO_WRITE_BACK ? scope.lease() : 0;
            boolean counts = variant == Variant.NO_MARKER || variant == Variant.LOOKS_FIRST;
            knows[c][m] = counts ? COUNTED : GRANTED;
        } else {
            knows[c][m] = NONE;
        }
    }

    private void look(int c, int m) {
        marker[m] = marker[m] == BLANK ? PROVISIONAL : marker[m];
        if (marker[m] == PROVISIONAL && scope.together()) {
            since[m] = since[m] == UNDATED ? -earliest(m) : since[m];
            marker[m] = since[m] + latest(m) > scope.lease() ? FINAL : PROVISIONAL;
        } else if (marker[m] == PROVISIONAL) {
            out[c][m] = Math.max(0, out[c][m]);
            if (out[c][m] >= (variant == Variant.SITS_OUT_TOO_SHORT ? scope.lease() - 1 : scope.lease() + 1)) {
                marker[m] = FINAL;
            }
        }
        if (marker[m] == FINAL) {
            since[m] = variant == Variant.DATE_OUTLIVES_THE_MARKER ? since[m] : UNDATED; // nobody asks any more
            out[c][m] = variant == Variant.NO_PROVISIONAL_MARKER ? out[c][m] : -1;
            knows[c][m] = knows[c][m] == GRANTED ? COUNTED : LOOKED;
        } else {
            knows[c][m] = NONE;
            offered[c][m] = 0;
        }
    }

    /** The earliest time that somebody may date a member's marker with, whoever else it has heard. */
    private int earliest(int m) {
        int earliest = Integer.MAX_VALUE;
        for (int[] heard : heardWith(m)) {
            Arrays.sort(heard);
            earliest = Math.min(
                    earliest,
                    switch (variant) {
                        case DATED_BY_ITS_OWN_CLOCK -> clock[m];
                        case DATED_BY_ANY_CLOCK -> heard[0];
                        default -> heard[MAJORITY - 1];
                    });
        }
        return earliest;
    }

    /** The latest time that somebody may believe it is, whoever it has heard. */
    private int latest(int m) {
        int latest = Integer.MIN_VALUE;
        for (int[] heard : heardWith(m)) {
            Arrays.sort(heard);
            latest = Math.max(
                    latest,
                    switch (variant) {
                        case DATED_BY_ITS_OWN_CLOCK -> clock[m];
                        case DATED_BY_ANY_CLOCK -> heard[heard.length - 1];
                        default -> heard[heard.length - MAJORITY];
                    });
        }
        return latest;
    }

    /** The clocks of all members, or of this and one other. */
    private List<int[]> heardWith(int m) {
        int next = (m + 1) % MEMBERS;
        int last = (m + 2) % MEMBERS;
        return List.of(clock.clone(), new int[] {clock[m], clock[next]}, new int[] {clock[m], clock[last]});
    }

    private void choose(int c) {
        token[c] = OLD;
        for (int m = 0; m < MEMBERS; m++) {
            token[c] = knows[c][m] == COUNTED ? Math.max(token[c], offered[c][m]) : token[c];
            knows[c][m] = knows[c][m] == COUNTED ? COUNTED : NONE;
            offered[c][m] = 0;
        }
        phase[c] = WRITING;
    }

    private void write(int c, int m) {
        if (holder[m] != c + 1) {
            knows[c][m] = NONE;
            surely[c][m] = 0;
            return;
        }
        floor[m] = Math.max(floor[m], token[c]);
        left[m] = scope.lease();
        // The answer may take another tick.
        int from = variant == Variant.COUNTS_FROM_THE_ANSWER ? -1 : roundAge[c];
        surely[c][m] = Math.max(surely[c][m], scope.lease() - from);
        knows[c][m] = WRITTEN;
    }

    private void report(int c) {
        phase[c] = HOLDING;
        roundAge[c] = 0;
        for (int other = 0; other < CLIENTS; other++) {
            if (other != c && phase[other] >= HOLDING && isValid(other)) {
                wrong = "both clients hold";
            }
        }
        if (token[c] <= lastToken && lastToken > OLD) {
            wrong = "token " + token[c] + " after token " + lastToken;
        }
        lastToken = token[c];
    }

    private void beginRenewal(int c) {
        phase[c] = RENEWING;
        for (int m = 0; m < MEMBERS; m++) {
            knows[c][m] = knows[c][m] == WRITTEN ? COUNTED : NONE;
        }
    }

    private void heal(int c, int m) {
        holder[m] = c + 1;
        left[m] = scope.lease();
        floor[m] = Math.max(floor[m], token[c]);
        surely[c][m] = scope.lease();
        knows[c][m] = WRITTEN;
    }

    private void renewed(int c) {
        phase[c] = HOLDING;
        roundAge[c] = 0;
        int kept = count(c, WRITTEN);
        for (int m = 0; m < MEMBERS; m++) {
            knows[c][m] = knows[c][m] == COUNTED ? WRITTEN : knows[c][m]; // not reached: held until its old end
        }
        if (variant == Variant.RENEWS_WITHOUT_MAJORITY && kept > 0) {
            Arrays.fill(surely[c], scope.lease());
        }
    }

    private void end(int c, boolean told) {
        for (int m = 0; m < MEMBERS; m++) {
            if (holder[m] == c + 1) {
                holder[m] = told ? FREE : STALE;
                left[m] = told ? 0 : left[m];
            }
        }
        phase[c] = CLAIMING;
        token[c] = 0;
        roundAge[c] = 0;
        Arrays.fill(knows[c], NONE);
        Arrays.fill(offered[c], 0);
        Arrays.fill(surely[c], 0);
    }
}
