// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.model;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.LeaseLost.Reason;
import io.lockkeeper.Mode;
import io.lockkeeper.Sequencer;
import io.lockkeeper.spi.Answer;
import io.lockkeeper.spi.Claim;
import io.lockkeeper.spi.Grant;
import io.lockkeeper.spi.Renewal;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Breaking: closed until the holder knows or its lease has ended, so that nobody is told a lie. (Law 16.) */
final class ModelBreakTest {
    private final Bench bench = new Bench();
    private final Grant held = bench.grant(bench.writer("a"));
    private final Claim next = bench.writer("b");

    ModelBreakTest() {
        bench.send(next);
    }

    private boolean nextIsIn() {
        return bench.refresh(next) instanceof Answer.Granted;
    }

    @Test
    void aRecallNotifiesTheHolderAndGrantsNothingYet() {
        assertThat(bench.breakHold(held.token(), Duration.ZERO, false)).isTrue();
        assertThat(bench.signals)
                .containsExactly(new Signal.Recalled(held.claim().id()));
        assertThat(nextIsIn()).isFalse();
        assertThat(bench.check(held))
                .as("but no third party is told that it holds")
                .isFalse();
        assertThat(bench.downgrade(held)).isEmpty();
    }

    @Test
    void aRecalledHoldIsNotRenewed() {
        bench.breakHold(held.token(), Duration.ZERO, false);
        bench.pass(1_000);
        assertThat(bench.renew(held, Duration.ofHours(1))).isEqualTo(new Renewal.Recalled());
        bench.pass(Bench.LEASE.toMillis() - 1_001);
        assertThat(nextIsIn()).isFalse();
        bench.pass(1);
        assertThat(nextIsIn()).as("its lease has ended").isTrue();
        assertThat(bench.signals).contains(new Signal.Lost(held.claim().id(), Reason.BROKEN));
    }

    @Test
    void theHoldersReleaseAcknowledgesIt() {
        bench.breakHold(held.token(), Duration.ZERO, false);
        assertThat(bench.release(held)).isTrue();
        assertThat(bench.told(next).token()).isGreaterThan(held.token() + Bench.BLOCK - 1);
    }

    @Test
    void theLockDelayAskedForBeginsWhenTheHoldHasEnded() {
        bench.breakHold(held.token(), Duration.ofSeconds(5), false);
        bench.pass(2_000);
        bench.release(held);
        bench.pass(4_999);
        assertThat(nextIsIn()).isFalse();
        bench.pass(1);
        assertThat(nextIsIn()).isTrue();
    }

    @Test
    void theLockDelayAskedForFollowsExpiryToo() {
        bench.breakHold(held.token(), Duration.ofSeconds(5), false);
        bench.pass(Bench.LEASE.toMillis() + 4_999);
        assertThat(nextIsIn()).isFalse();
        bench.pass(1);
        assertThat(nextIsIn()).isTrue();
    }

    @Test
    void twoBreaksKeepTheLongerLockDelay() {
        bench.breakHold(held.token(), Duration.ofSeconds(5), false);
        bench.breakHold(held.token(), Duration.ofSeconds(1), false);
        bench.release(held);
        assertThat(bench.inspect().orElseThrow().closedFor()).isEqualTo(Duration.ofSeconds(5));
    }

    @Test
    void breakingNowDoesNotWait() {
        assertThat(bench.breakHold(held.token(), Duration.ZERO, true)).isTrue();
        assertThat(bench.signals).contains(new Signal.Lost(held.claim().id(), Reason.BROKEN));
        assertThat(bench.told(next).token()).isGreaterThan(held.token() + Bench.BLOCK - 1);
        assertThat(bench.release(held)).isFalse();
    }

    @Test
    void aHolderThatWasBrokenAtOnceLearnsWhyUntilItsLeaseWouldHaveEnded() {
        bench.breakHold(held.token(), Duration.ZERO, true);
        bench.withdraw(next);
        bench.pass(Bench.LEASE.toMillis() - 1);
        assertThat(bench.renew(held, Bench.LEASE)).isEqualTo(new Renewal.Lost(Reason.BROKEN));
        assertThat(bench.renew(held, Bench.LEASE)).as("again").isEqualTo(new Renewal.Lost(Reason.BROKEN));
        bench.pass(1);
        assertThat(bench.renew(held, Bench.LEASE)).isEqualTo(new Renewal.Lost(Reason.EXPIRED));
        assertThat(bench.model.size()).as("nothing is left of it").isZero();
    }

    @Test
    void breakingNowWithALockDelayClosesTheName() {
        bench.breakHold(held.token(), Duration.ofSeconds(5), true);
        assertThat(nextIsIn()).isFalse();
        bench.pass(5_000);
        assertThat(nextIsIn()).isTrue();
    }

    @Test
    void anyTokenOfTheBlockNamesTheHoldAndNoOther() {
        assertThat(bench.breakHold(held.token() - 1, Duration.ZERO, true)).isFalse();
        assertThat(bench.breakHold(held.token() + Bench.BLOCK, Duration.ZERO, true))
                .isFalse();
        assertThat(bench.breakHold(held.token() + Bench.BLOCK - 1, Duration.ZERO, true))
                .isTrue();
        assertThat(bench.breakHold(held.token(), Duration.ZERO, true))
                .as("twice")
                .isFalse();
    }

    @Test
    void breakingOneReaderLeavesTheOthers() {
        Bench readers = new Bench();
        Grant one = readers.grant(readers.reader("a"));
        Grant two = readers.grant(readers.reader("b"));
        assertThat(readers.breakHold(one.token(), Duration.ZERO, true)).isTrue();
        assertThat(readers.check(one)).isFalse();
        assertThat(readers.check(two)).isTrue();
    }

    @Test
    void aSequencerMustNameModeTokenAndName() {
        assertThat(bench.check(held)).isTrue();
        assertThat(bench.apply(new Command.Check(new Sequencer("x", Mode.SHARED, held.token()))))
                .isFalse();
        assertThat(bench.apply(new Command.Check(new Sequencer("y", Mode.EXCLUSIVE, held.token()))))
                .isFalse();
        assertThat(bench.apply(new Command.Check(new Sequencer("x", Mode.EXCLUSIVE, held.token() + Bench.BLOCK))))
                .isFalse();
    }
}
