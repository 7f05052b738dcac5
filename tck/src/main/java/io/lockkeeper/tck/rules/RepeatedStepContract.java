// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck.rules;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.Mode;
import io.lockkeeper.spi.Answer;
import io.lockkeeper.spi.Claim;
import io.lockkeeper.spi.Grant;
import io.lockkeeper.spi.Renewal;
import io.lockkeeper.tck.support.Contract;
import io.lockkeeper.tck.support.SpiClient;
import io.lockkeeper.tck.support.StepContract;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Rule 3, for single steps: each may be repeated, and a release can only end its own hold. */
public abstract class RepeatedStepContract extends StepContract {
    /** Rounding: a store may count in milliseconds. */
    private static final Duration ROUNDING = Duration.ofMillis(2);

    private static Duration between(Answer earlier, Answer later) {
        return Duration.ofNanos((later.at().micros() - earlier.at().micros()) * 1_000);
    }

    private void awaitTime(SpiClient client, Answer since, Duration passed) throws InterruptedException {
        long until = since.at().micros() + passed.toNanos() / 1_000;
        Contract.await("store time passes", () -> client.time(name()).micros() >= until);
    }

    @ParameterizedTest
    @EnumSource(Mode.class)
    void aRepeatedClaimReturnsTheSameGrantWithItsRemainingTime(Mode mode) throws Exception {
        needs(mode);
        SpiClient client = client();
        Claim claim = client.newClaim(name(), mode == Mode.SHARED ? shared() : conflicting(mode));
        Answer.Granted first = SpiClient.granted(client.store().claim(claim));
        awaitTime(client, first, Duration.ofMillis(50));
        Answer.Granted again = SpiClient.granted(client.store().claim(claim.asStray()));
        assertThat(again.token()).isEqualTo(first.token());
        assertThat(again.block()).isEqualTo(first.block());
        assertThat(again.confirmed()).isTrue();
        assertThat(again.remaining())
                .isLessThanOrEqualTo(
                        first.remaining().minus(between(first, again)).plus(ROUNDING));
        assertThat(holders(name())).hasSize(1);
    }

    @Test
    void aRepeatedClaimKeepsItsPlaceInTheQueue() {
        needsQueue();
        SpiClient a = client();
        SpiClient b = client();
        a.hold(name(), exclusive());
        Claim second = b.queue(name(), exclusive());
        Claim third = a.queue(name(), exclusive());
        assertThat(SpiClient.queued(b.store().claim(second.asStray())).ahead()).isZero();
        assertThat(SpiClient.queued(a.store().claim(third.asStray())).ahead()).isEqualTo(1);
        assertThat(SpiClient.queued(b.store().claim(second.asStray())).ahead()).isZero();
        assertThat(waiters(name())).isEqualTo(2);
    }

    @Test
    void aRepeatedClaimNeitherConfirmsNorLengthensAGrantThatWasHandedOver() throws Exception {
        needsQueue();
        SpiClient a = client();
        SpiClient b = client();
        Grant held = a.hold(name(), exclusive());
        Claim next = b.queue(name(), exclusive());
        assertThat(a.store().release(held)).isTrue();
        Answer.Granted first = b.awaitGrant(next);
        assertThat(first.confirmed()).isFalse();
        awaitTime(b, first, Duration.ofMillis(50));
        Answer.Granted again = SpiClient.granted(b.store().claim(next.asStray()));
        Answer.Granted refreshed = SpiClient.granted(b.refresh(next));
        for (Answer.Granted later : new Answer.Granted[] {again, refreshed}) {
            assertThat(later.token()).isEqualTo(first.token());
            assertThat(later.confirmed()).isFalse();
            assertThat(later.remaining())
                    .isLessThanOrEqualTo(
                            first.remaining().minus(between(first, later)).plus(ROUNDING));
        }
    }

    @Test
    void aRepeatedReleaseEndsNoOtherHold() {
        SpiClient a = client();
        SpiClient b = client();
        Grant first = a.hold(name(), exclusive());
        assertThat(a.store().release(first)).isTrue();
        a.store().release(first);
        Grant second = b.hold(name(), exclusive());
        a.store().release(first);
        a.store().withdraw(first.claim());
        assertThat(holders(name())).containsExactly(second.token());
        assertThat(b.store().release(second)).isTrue();
    }

    @Test
    void aReleaseOrWithdrawalThatNamesAnotherClaimEndsNothing() {
        SpiClient a = client();
        SpiClient b = client();
        Grant held = a.hold(name(), exclusive());
        // The token is right and the name, too: it is the claim's id that counts.
        Grant forged = new Grant(b.newClaim(name(), exclusive()), Mode.EXCLUSIVE, held.token(), held.block());
        assertThat(b.store().release(forged)).isFalse();
        b.store().withdraw(forged.claim());
        assertThat(b.renew(forged, VERY_LONG)).isInstanceOf(Renewal.Lost.class);
        assertThat(holders(name())).containsExactly(held.token());
        assertThat(a.store().release(held)).isTrue();
    }

    @Test
    void aRepeatedReleaseReturnsNoPermitTwice() {
        needs(Mode.PERMITS);
        SpiClient a = client();
        Grant first = a.hold(name(), permits(1, 2));
        Grant second = a.hold(name(), permits(1, 2));
        assertThat(a.store().release(first)).isTrue();
        a.store().release(first);
        a.store().release(first);
        assertThat(holders(name())).containsExactly(second.token());
        Claim both = a.newClaim(name(), trying(permits(2, 2)));
        assertThat(SpiClient.refused(a.store().claim(both))).isEqualTo(Answer.Why.BUSY);
    }

    @Test
    void aRepeatedWithdrawalRemovesNobodyElse() {
        needsQueue();
        SpiClient a = client();
        SpiClient b = client();
        a.hold(name(), exclusive());
        Claim leaves = a.queue(name(), exclusive());
        Claim stays = b.queue(name(), exclusive());
        a.store().withdraw(leaves);
        a.store().withdraw(leaves);
        a.store().withdraw(leaves.asStray());
        assertThat(SpiClient.queued(b.refresh(stays)).ahead()).isZero();
        assertThat(waiters(name())).isEqualTo(1);
    }

    @ParameterizedTest
    @ValueSource(ints = {64, 1})
    void aRepeatedDowngradeGivesTheSameGrant(int block) {
        needs(Mode.SHARED);
        SpiClient a = client();
        Grant writer = a.hold(name(), withBlock(exclusive(), block));
        Grant reader = a.store().downgrade(writer).orElseThrow();
        assertThat(a.store().downgrade(writer).orElseThrow()).isEqualTo(reader);
        assertThat(holders(name())).containsExactly(reader.token());
        assertThat(a.store().release(reader)).isTrue();
        assertThat(a.store().downgrade(writer)).as("of a hold that has ended").isEmpty();
        assertIdle(name());
    }

    @Test
    void aRenewalOfWhatHasEndedBringsNothingBack() {
        SpiClient a = client();
        Grant grant = a.hold(name(), exclusive());
        assertThat(a.store().release(grant)).isTrue();
        assertThat(a.renew(grant, VERY_LONG)).isInstanceOf(Renewal.Lost.class);
        assertThat(SpiClient.refused(a.refresh(grant.claim()))).isEqualTo(Answer.Why.GONE);
        assertIdle(name());
    }
}
