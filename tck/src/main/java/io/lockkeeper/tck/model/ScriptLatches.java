// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck.model;

import io.lockkeeper.Guarantee;
import io.lockkeeper.model.Command;
import io.lockkeeper.spi.LatchState;
import io.lockkeeper.spi.LatchStep;
import io.lockkeeper.tck.model.ScriptStep.Due;
import java.util.LinkedHashMap;
import java.util.Map;

/** The latches of a script; see {@link ScriptStep}. */
final class ScriptLatches {
    private final BothSides sides;
    private final Map<Integer, Sent> steps = new LinkedHashMap<>();

    private record Sent(LatchStep ours, LatchStep theirs, int latch, boolean done) {}

    ScriptLatches(BothSides sides) {
        this.sides = sides;
    }

    void set(ScriptStep.LatchSet step) {
        var id = sides.clients.newClaim(0);
        String name = sides.name(step.latch());
        make(
                step.id(),
                step.latch(),
                new LatchStep.Set(name, step.count(), id, sides.ourDeadline(step.due())),
                new LatchStep.Set(name, step.count(), id, sides.theirDeadline(step.due(), 0, name)));
    }

    void countDown(ScriptStep.LatchDown step) {
        var id = sides.clients.newClaim(0);
        String name = sides.name(step.latch());
        make(
                step.id(),
                step.latch(),
                new LatchStep.CountDown(name, id, sides.ourDeadline(step.due())),
                new LatchStep.CountDown(name, id, sides.theirDeadline(step.due(), 0, name)));
    }

    void repeat(int id) {
        Sent sent = steps.get(id);
        if (sent != null && sent.done) {
            make(id, sent.latch, sent.ours, sent.theirs);
        }
    }

    void watch(ScriptStep.LatchWatch step) {
        LatchStep watch = new LatchStep.Watch(sides.name(step.latch()), sides.clients.id(step.client()), Pace.LONG);
        LatchState ours = sides.ask(new Command.Latch(watch));
        sides.judge.compare(step.latch(), ours, sides.store(step.client()).latch(watch));
    }

    void look(int latch) {
        LatchStep look = new LatchStep.Look(sides.name(latch));
        sides.judge.compare(
                latch, sides.ask(new Command.Latch(look)), sides.store(1).latch(look));
    }

    private void make(int id, int latch, LatchStep ourStep, LatchStep theirStep) {
        LatchState ours = sides.ask(new Command.Latch(ourStep));
        sides.judge.compare(latch, ours, sides.store(0).latch(theirStep));
        steps.put(id, new Sent(ourStep, theirStep, latch, ours.outcome() == LatchState.Outcome.DONE));
    }

    /** Counts latches down until none is set. */
    void countAllDown() {
        for (int step = -1; step >= -8 && sides.store(0).guarantees().has(Guarantee.LATCH); step--) {
            countDown(new ScriptStep.LatchDown(step, step & 1, Due.FAR));
        }
    }
}
