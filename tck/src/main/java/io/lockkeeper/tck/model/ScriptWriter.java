// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck.model;

import io.lockkeeper.Guarantee;
import io.lockkeeper.Guarantees;
import io.lockkeeper.Mode;
import io.lockkeeper.tck.model.ScriptStep.Ask;
import io.lockkeeper.tck.model.ScriptStep.Due;
import io.lockkeeper.tck.model.ScriptStep.Lasts;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Random;

/**
 * Writes random scripts of what the store can do: few names and few clients, so that they meet; mostly what keepers do,
 * now and then what only a late, repeated or foreign step does.
 */
final class ScriptWriter {
    /** How far back steps refer to claims: those before it have mostly ended. */
    private static final int MEMORY = 9;

    private static final int SEMAPHORE = Clients.NAMES - 1;

    private final Random random;
    private final Guarantees guarantees;
    private final Pace pace;
    private final List<Integer> claims = new ArrayList<>();
    private final List<Integer> latchSteps = new ArrayList<>();
    private final Queue<ScriptStep> plan = new ArrayDeque<>();
    private int ids;

    private ScriptWriter(Random random, Guarantees guarantees, Pace pace) {
        this.random = random;
        this.guarantees = guarantees;
        this.pace = pace;
    }

    static List<ScriptStep> write(Random random, int length, Guarantees guarantees, Pace pace) {
        ScriptWriter writer = new ScriptWriter(random, guarantees, pace);
        List<ScriptStep> script = new ArrayList<>();
        int segment = length / (pace.pauses() + 1);
        if (pace.skipsSilentClaims() && guarantees.has(Guarantee.FAIR) && !writer.oneIn(3)) {
            writer.planSilence();
        }
        for (int i = 0; i < length; i++) {
            if (i > 0 && i % segment == 0 && i / segment <= pace.pauses()) {
                script.add(new ScriptStep.Pause());
            }
            script.add(writer.next());
        }
        return script;
    }

    /** Claims queue for one name, the first of them is handed a grant, and some are refreshed: chance seldom does all that. */
    private void planSilence() {
        int name = name();
        int holder = plan(ask(name));
        List<Integer> queued = new ArrayList<>();
        for (int i = 3 + random.nextInt(3); i > 0; i--) {
            queued.add(plan(waiting(ask(name))));
        }
        plan.add(new ScriptStep.Release(holder));
        queued.removeIf(claim -> !oneIn(3));
        if (!queued.isEmpty()) {
            plan.add(new ScriptStep.Renew(List.of(), queued, Lasts.LONG, false));
        }
    }

    private int plan(Ask ask) {
        plan.add(new ScriptStep.Claim(++ids, ask, oneIn(8)));
        return ids;
    }

    /** Mostly a claim that is still in the queue when a grant of such a claim has expired. */
    private Ask waiting(Ask ask) {
        return new Ask(
                ask.client(),
                ask.name(),
                ask.mode(),
                ask.permits(),
                ask.limit(),
                true,
                ask.block(),
                oneIn(4) ? Lasts.LONG : Lasts.SHORT,
                Lasts.NONE,
                oneIn(4) ? Lasts.SHORT : Lasts.LONG,
                ask.due());
    }

    private ScriptStep next() {
        ScriptStep planned = oneIn(4) ? null : plan.poll();
        if (planned instanceof ScriptStep.Claim claim) {
            claims.add(claim.id());
        }
        return planned == null ? any() : planned;
    }

    private ScriptStep any() {
        int dice = claims.isEmpty() ? 0 : random.nextInt(100);
        if (dice < 32) {
            ids++;
            claims.add(ids);
            return new ScriptStep.Claim(ids, ask(), oneIn(8));
        } else if (dice < 50) {
            return new ScriptStep.Release(claim());
        } else if (dice < 53) {
            return new ScriptStep.ReleaseForeign(claim());
        } else if (dice < 59) {
            return new ScriptStep.Repeat(claim());
        } else if (dice < 67) {
            boolean raise = oneIn(4) && guarantees.has(Guarantee.RAISES_TOKENS);
            return new ScriptStep.Renew(some(), some(), oneIn(2) ? Lasts.LONG : shortOrLong(), raise);
        } else if (dice < 71) {
            return guarantees.has(Guarantee.SHARED)
                    ? new ScriptStep.Downgrade(claim(), oneIn(3))
                    : new ScriptStep.Release(claim());
        } else if (dice < 76) {
            return new ScriptStep.Withdraw(claim(), oneIn(2));
        } else if (dice < 78) {
            ids++;
            claims.add(ids);
            return new ScriptStep.WithdrawUnsent(ids, ask());
        } else if (dice < 83) {
            return new ScriptStep.Inspect(name());
        } else if (dice < 85) {
            return new ScriptStep.ListNames(1 + random.nextInt(Clients.NAMES));
        } else if (dice < 89) {
            return new ScriptStep.Check(claim(), oneIn(2), oneIn(4));
        } else if (dice < 92) {
            Lasts delay = oneIn(2) ? Lasts.NONE : delay();
            return new ScriptStep.Break(claim(), oneIn(2), delay, oneIn(2));
        }
        return guarantees.has(Guarantee.LATCH) ? latch() : new ScriptStep.Inspect(name());
    }

    private ScriptStep latch() {
        int latch = random.nextInt(2);
        switch (random.nextInt(6)) {
            case 0, 1 -> {
                latchSteps.add(++ids);
                return new ScriptStep.LatchSet(ids, latch, 1 + random.nextInt(2), due());
            }
            case 2, 3 -> {
                latchSteps.add(++ids);
                return new ScriptStep.LatchDown(ids, latch, due());
            }
            case 4 -> {
                return new ScriptStep.LatchWatch(random.nextInt(Clients.CLIENTS), latch);
            }
            default -> {
                return latchSteps.isEmpty()
                        ? new ScriptStep.LatchLook(latch)
                        : new ScriptStep.LatchRepeat(latest(latchSteps));
            }
        }
    }

    private Ask ask() {
        return ask(name());
    }

    private Ask ask(int name) {
        Mode mode = mode(oneIn(12) ? random.nextInt(Clients.NAMES) : name);
        int limit = mode == Mode.PERMITS ? (oneIn(12) ? 2 : 3) : 0;
        int permits = mode == Mode.PERMITS ? 1 + random.nextInt(limit) : 1;
        boolean queue = guarantees.has(Guarantee.FAIR) && !oneIn(4);
        Lasts lease = queue && !pace.longLeasesQueue() ? Lasts.SHORT : shortOrLong();
        Lasts patience = lease == Lasts.SHORT && !pace.skipsSilentClaims() ? Lasts.SHORT : shortOrLong();
        int block = oneIn(2) ? 1 : 2 + random.nextInt(3);
        return new Ask(
                random.nextInt(Clients.CLIENTS),
                name,
                mode,
                permits,
                limit,
                queue,
                block,
                lease,
                oneIn(4) ? delay() : Lasts.NONE,
                patience,
                due());
    }

    private Mode mode(int name) {
        if (name == SEMAPHORE && guarantees.has(Guarantee.PERMITS)) {
            return Mode.PERMITS;
        }
        return oneIn(2) && guarantees.has(Guarantee.SHARED) ? Mode.SHARED : Mode.EXCLUSIVE;
    }

    /** Where nothing is short there is nothing but long. */
    private Lasts shortOrLong() {
        return pace.pauses() > 0 && oneIn(2) ? Lasts.SHORT : Lasts.LONG;
    }

    private Lasts delay() {
        if (!guarantees.has(Guarantee.LOCK_DELAY)) {
            return Lasts.NONE;
        }
        return pace.pauses() > 0 && !oneIn(4) ? Lasts.SHORT : Lasts.LONG;
    }

    private Due due() {
        return oneIn(20) ? (oneIn(2) ? Due.PAST : Due.ELSEWHERE) : Due.FAR;
    }

    private int name() {
        return random.nextInt(Clients.NAMES);
    }

    private int claim() {
        return latest(claims);
    }

    private int latest(List<Integer> of) {
        int back = random.nextInt(Math.min(of.size(), MEMORY));
        return of.get(of.size() - 1 - back);
    }

    private List<Integer> some() {
        List<Integer> some = new ArrayList<>();
        for (int i = random.nextInt(4); i > 0; i--) {
            int claim = claim();
            if (!some.contains(claim)) {
                some.add(claim);
            }
        }
        return some;
    }

    private boolean oneIn(int n) {
        return random.nextInt(n) == 0;
    }
}
