// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck.model;

import io.lockkeeper.LockInfo;
import io.lockkeeper.model.Command;
import io.lockkeeper.spi.ClaimId;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Plays a script to a store and to the model, and has a {@link ScriptJudge} compare the answers. Each run has names
 * and ids of its own.
 *
 * <p>What a keeper would never send, because the store need not have an answer to it, is left out: the copy of a claim that
 * has ended and was not said to be stray, and steps on holds that nobody was told of. A grant handed over is asked for
 * when a step needs it.
 */
final class ScriptRun {
    /** The claims of the script. */
    final ScriptClaims claims;

    /** The latches of the script. */
    final ScriptLatches latches;

    private final BothSides sides;
    private final List<ScriptStep> script;
    private final Duration signalWait;
    private final long began;
    private long segmentBegan;
    private int position;
    private boolean isTidying;
    private boolean isOver;
    private long playedUntil;

    ScriptRun(Clients clients, List<ScriptStep> script, Pace pace, String prefix, Duration signalWait) {
        this.sides = new BothSides(clients, pace, prefix);
        this.claims = new ScriptClaims(sides, signalWait);
        this.latches = new ScriptLatches(sides);
        this.script = script;
        this.signalWait = signalWait;
        this.began = System.nanoTime();
        this.segmentBegan = began;
    }

    /**
     * Plays up to and including the next pause (which the caller lets pass), or to the end.
     *
     * @return what is wrong
     */
    Optional<String> play() {
        segmentBegan = System.nanoTime();
        try {
            if (position > 0) {
                claims.lookAtAll();
            }
            while (position < script.size()) {
                ScriptStep step = script.get(position++);
                step.on(this);
                awaitTick();
                if (step instanceof ScriptStep.Pause) {
                    return Optional.empty();
                }
                if (System.nanoTime() - segmentBegan > sides.pace.segment().toNanos() / 2) {
                    position = script.size(); // the rest would come too late
                }
            }
            tidyUp();
            isOver = true;
        } catch (ScriptMismatch e) {
            return Optional.of(explain(e.getMessage()));
        } catch (RuntimeException e) {
            return Optional.of(explain("the store threw " + e));
        } finally {
            playedUntil = System.nanoTime();
        }
        try {
            sides.signals.compare(claims.firstTokens(), signalWait);
            return Optional.empty();
        } catch (ScriptMismatch e) {
            return Optional.of(explain(e.getMessage()));
        }
    }

    boolean isOver() {
        return isOver;
    }

    /** Whether what was played since the last pause, and all in all, was played in time to mean anything. */
    boolean wasInTime() {
        return playedUntil - segmentBegan < sides.pace.segment().toNanos()
                && playedUntil - began < sides.pace.whole().toNanos();
    }

    /** Plays no more of it. */
    void giveUp() {
        isOver = true;
    }

    private String explain(@Nullable String what) {
        String when = isTidying ? "at the end" : position == 0 ? "at first" : "after " + script.get(position - 1);
        return (when + ": " + what).replace(sides.prefix, "");
    }

    /**
     * After a hand-over, waits until the store's clock has moved on: whether a claim was refreshed after it may matter later, and
     * some clocks tick in milliseconds, that of the model with each step.
     */
    private void awaitTick() {
        ClaimId granted = sides.takeHandedOver();
        String name = granted == null ? null : claims.nameOf(granted);
        if (name == null || sides.pace.pauses() == 0) {
            return;
        }
        Object lane = sides.store(0).lane(name);
        long from = sides.store(0).time(lane).micros();
        while (sides.store(0).time(lane).micros() <= from
                && System.nanoTime() - segmentBegan < sides.pace.segment().toNanos()) {
            Thread.onSpinWait();
        }
    }

    void inspect(int name) {
        Optional<LockInfo> ours = sides.ask(new Command.Inspect(sides.name(name)));
        sides.judge.compare(name, ours, sides.store(1).inspect(sides.name(name)));
    }

    void list(int limit) {
        List<LockInfo> ours = sides.ask(new Command.ListNames(sides.prefix, limit));
        List<LockInfo> theirs = sides.store(1).list(sides.prefix, limit);
        ScriptMismatch.unless(
                ours.stream()
                        .map(LockInfo::name)
                        .toList()
                        .equals(theirs.stream().map(LockInfo::name).toList()),
                "the model lists " + ours + ", the store " + theirs);
        for (int i = 0; i < ours.size(); i++) {
            sides.judge.compare(
                    ours.get(i).name().charAt(sides.prefix.length()) - 'a',
                    Optional.of(ours.get(i)),
                    Optional.of(theirs.get(i)));
        }
    }

    void pause() {
        sides.pass(sides.pace.pause());
    }

    /** Gives everything back; then nothing may be left but names that were told to stay closed. */
    private void tidyUp() {
        isTidying = true;
        claims.withdrawAll();
        for (int name = 0; name < Clients.NAMES; name++) {
            inspect(name);
        }
        latches.countAllDown();
    }
}
