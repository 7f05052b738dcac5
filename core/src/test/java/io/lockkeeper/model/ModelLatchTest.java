// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.model;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.spi.ClaimId;
import io.lockkeeper.spi.LatchState;
import io.lockkeeper.spi.LatchState.Outcome;
import io.lockkeeper.spi.LatchStep;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Latches: counts, generations, and steps that are carried out once. */
final class ModelLatchTest {
    private final Bench bench = new Bench();
    private long ids;

    private LatchStep.Set set(long count) {
        return new LatchStep.Set("l", count, new ClaimId("l", ++ids), bench.in(2_000));
    }

    private LatchStep.CountDown down() {
        return new LatchStep.CountDown("l", new ClaimId("l", ++ids), bench.in(2_000));
    }

    private LatchState look() {
        return bench.latch(new LatchStep.Look("l"));
    }

    @Test
    void anUnsetLatchHasCountZeroAndNoGeneration() {
        assertThat(look().count()).isZero();
        assertThat(look().generation()).isZero();
        assertThat(bench.latch(down()).count()).isZero();
    }

    @Test
    void aLatchIsSetOnceUntilItReachesZero() {
        assertThat(bench.latch(set(2)).outcome()).isEqualTo(Outcome.DONE);
        assertThat(bench.latch(set(5)).outcome()).isEqualTo(Outcome.UNCHANGED);
        assertThat(look().count()).isEqualTo(2);
        assertThat(bench.latch(down()).count()).isEqualTo(1);
        assertThat(bench.latch(down()).count()).isZero();
        assertThat(bench.latch(set(5)).outcome()).isEqualTo(Outcome.DONE);
    }

    @Test
    void eachSettingIsANewGeneration() {
        long first = bench.latch(set(1)).generation();
        bench.latch(down());
        assertThat(bench.latch(set(1)).generation()).isGreaterThan(first);
    }

    @Test
    void aRepeatedStepIsCarriedOutOnce() {
        LatchStep set = set(3);
        bench.latch(set);
        assertThat(bench.latch(set).outcome()).isEqualTo(Outcome.DONE);
        LatchStep down = down();
        assertThat(bench.latch(down).count()).isEqualTo(2);
        assertThat(bench.latch(down).count()).isEqualTo(2);
    }

    @Test
    void aLateStepIsNotCarriedOut() {
        LatchStep lateSet = set(3);
        bench.pass(2_001);
        assertThat(bench.latch(lateSet).outcome()).isEqualTo(Outcome.LATE);
        bench.latch(set(3));
        LatchStep lateDown = down();
        bench.pass(2_001);
        assertThat(bench.latch(lateDown).outcome()).isEqualTo(Outcome.LATE);
        assertThat(look().count()).isEqualTo(3);
    }

    /** The caller was told that it did not set the latch; a copy that was on its way must not set it after all. */
    @Test
    void aCopyOfASettingThatChangedNothingChangesNothingLater() {
        bench.latch(set(1));
        LatchStep set = set(5);
        assertThat(bench.latch(set).outcome()).isEqualTo(Outcome.UNCHANGED);
        bench.latch(down());
        LatchState copy = bench.latch(set);
        assertThat(copy.count()).isZero();
        assertThat(copy.outcome()).as("and gives the same answer").isEqualTo(Outcome.UNCHANGED);
    }

    @Test
    void watchersOfALatchAreNotifiedOnceAtZeroWhileTheyAreInterested() {
        bench.latch(set(2));
        bench.latch(new LatchStep.Watch("l", "b", Duration.ofSeconds(1)));
        bench.latch(new LatchStep.Watch("l", "b", Duration.ofSeconds(10)));
        bench.latch(new LatchStep.Watch("l", "c", Duration.ofSeconds(1)));
        bench.pass(1_500);
        bench.latch(down());
        assertThat(bench.signals).isEmpty();
        bench.latch(down());
        assertThat(bench.signals).containsExactly(new Signal.Opened("b", "l"));
    }

    @Test
    void aLatchAtZeroLeavesNothingOnceItsStepsAreForgotten() {
        bench.latch(set(1));
        bench.latch(new LatchStep.Watch("l", "b", Duration.ofHours(1)));
        bench.latch(down());
        bench.pass(2_001);
        look();
        assertThat(bench.model.size()).isZero();
    }

    @Test
    void latchesLiveApartFromLocks() {
        bench.latch(new LatchStep.Set("x", 3, new ClaimId("l", ++ids), bench.in(2_000)));
        bench.grant(bench.writer("a"));
        assertThat(bench.latch(new LatchStep.Look("x")).count()).isEqualTo(3);
    }
}
