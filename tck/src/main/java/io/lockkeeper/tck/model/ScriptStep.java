// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck.model;

import io.lockkeeper.Mode;
import java.util.List;

/**
 * One line of a script that is played to a store and to the model. Claims are named by numbers of the script, so that a
 * line makes sense, or is skipped, whatever other lines are left out.
 */
sealed interface ScriptStep {
    /** Plays it. */
    void on(ScriptRun run);

    /** What reports call the name or latch with this number. */
    static String letter(int name) {
        return String.valueOf((char) ('a' + name));
    }

    /** A duration, by its relation to the script's pauses: is over after one, or outlives them all. */
    enum Lasts {
        NONE,
        SHORT,
        LONG
    }

    /** The deadline of a claim or latch step: far away, past, or on a clock that the store no longer has. */
    enum Due {
        FAR,
        PAST,
        ELSEWHERE
    }

    /** What a claim asks for. */
    record Ask(
            int client,
            int name,
            Mode mode,
            int permits,
            int limit,
            boolean queue,
            int block,
            Lasts lease,
            Lasts lockDelay,
            Lasts patience,
            Due due) {
        @Override
        public String toString() {
            return "client " + client + " asks for " + letter(name) + " " + mode
                    + (mode == Mode.PERMITS ? " " + permits + "/" + limit : "")
                    + (queue ? " queueing (patience " + patience + ")" : "")
                    + " lease " + lease
                    + (lockDelay == Lasts.NONE ? "" : " lock-delay " + lockDelay)
                    + " block " + block
                    + (due == Due.FAR ? "" : " deadline " + due);
        }
    }

    /** A claim of its own; a stray one is a repeat whose first copy is still on its way. */
    record Claim(int id, Ask ask, boolean stray) implements ScriptStep {
        @Override
        public void on(ScriptRun run) {
            run.claims.claim(this);
        }
    }

    /** The same claim again, as a keeper does that has got no answer. */
    record Repeat(int id) implements ScriptStep {
        @Override
        public void on(ScriptRun run) {
            run.claims.repeat(id);
        }
    }

    /** Renews some holds and refreshes some claims. */
    record Renew(List<Integer> holds, List<Integer> queued, Lasts lease, boolean raise) implements ScriptStep {
        @Override
        public void on(ScriptRun run) {
            run.claims.renew(this);
        }
    }

    /** Releases a hold; whether it still is one or not. */
    record Release(int id) implements ScriptStep {
        @Override
        public void on(ScriptRun run) {
            run.claims.release(id);
        }
    }

    /** Somebody else's release, which knows the name and the token of a hold, but not its id. */
    record ReleaseForeign(int id) implements ScriptStep {
        @Override
        public void on(ScriptRun run) {
            run.claims.releaseForeign(id);
        }
    }

    /** From exclusive to shared; from the first token of the block, or from a later one. */
    record Downgrade(int id, boolean later) implements ScriptStep {
        @Override
        public void on(ScriptRun run) {
            run.claims.downgrade(this);
        }
    }

    /** Leaves the queue, or gives back. */
    record Withdraw(int id, boolean stray) implements ScriptStep {
        @Override
        public void on(ScriptRun run) {
            run.claims.withdraw(this);
        }
    }

    /** Withdraws a claim that is still on its way. */
    record WithdrawUnsent(int id, Ask ask) implements ScriptStep {
        @Override
        public void on(ScriptRun run) {
            run.claims.withdrawUnsent(this);
        }
    }

    /** Sets a latch. */
    record LatchSet(int id, int latch, long count, Due due) implements ScriptStep {
        @Override
        public void on(ScriptRun run) {
            run.latches.set(this);
        }
    }

    /** Counts a latch down. */
    record LatchDown(int id, int latch, Due due) implements ScriptStep {
        @Override
        public void on(ScriptRun run) {
            run.latches.countDown(this);
        }
    }

    /** The same step on a latch again. */
    record LatchRepeat(int id) implements ScriptStep {
        @Override
        public void on(ScriptRun run) {
            run.latches.repeat(id);
        }
    }

    /** Watches a latch. */
    record LatchWatch(int client, int latch) implements ScriptStep {
        @Override
        public void on(ScriptRun run) {
            run.latches.watch(this);
        }
    }

    /** Looks at a latch. */
    record LatchLook(int latch) implements ScriptStep {
        @Override
        public void on(ScriptRun run) {
            run.latches.look(latch);
        }
    }

    /** Looks at a name. */
    record Inspect(int name) implements ScriptStep {
        @Override
        public void on(ScriptRun run) {
            run.inspect(name);
        }
    }

    /** Lists the script's names. */
    record ListNames(int limit) implements ScriptStep {
        @Override
        public void on(ScriptRun run) {
            run.list(limit);
        }
    }

    /** Has a third party check the sequencer of a hold, with the first or the last token of its block. */
    record Check(int id, boolean last, boolean otherMode) implements ScriptStep {
        @Override
        public void on(ScriptRun run) {
            run.claims.check(this);
        }
    }

    /** Breaks a hold. */
    record Break(int id, boolean last, Lasts lockDelay, boolean now) implements ScriptStep {
        @Override
        public void on(ScriptRun run) {
            run.claims.breakHold(this);
        }
    }

    /** Lets time pass until everything short is over; then looks where every claim stands. */
    record Pause() implements ScriptStep {
        @Override
        public void on(ScriptRun run) {
            run.pause();
        }
    }
}
