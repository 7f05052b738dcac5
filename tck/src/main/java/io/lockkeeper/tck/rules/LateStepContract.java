// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck.rules;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.spi.Answer;
import io.lockkeeper.spi.Claim;
import io.lockkeeper.spi.Grant;
import io.lockkeeper.spi.StoreTime;
import io.lockkeeper.tck.support.SpiClient;
import io.lockkeeper.tck.support.StepContract;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Rule 4, for single steps: a claim that comes late, or was withdrawn, is refused, and no id is granted twice. */
public abstract class LateStepContract extends StepContract {
    @Test
    void aClaimThatWasWithdrawnBeforeItCameIsRefused() {
        SpiClient client = client();
        for (Claim claim :
                new Claim[] {client.newClaim(name(), exclusive()), client.newClaim(name(), trying(exclusive()))}) {
            client.store().withdraw(claim.asStray());
            assertThat(SpiClient.refused(client.store().claim(claim))).isIn(Answer.Why.GONE, Answer.Why.LATE);
            assertThat(SpiClient.refused(client.store().claim(claim.asStray()))).isIn(Answer.Why.GONE, Answer.Why.LATE);
        }
        assertIdle(name());
    }

    @Test
    void aWithdrawalGivesBackWhatWasGrantedMeanwhile() throws Exception {
        needsQueue();
        SpiClient a = client();
        SpiClient b = client();
        SpiClient c = client();
        Grant held = a.hold(name(), exclusive());
        Claim next = b.queue(name(), exclusive());
        Claim last = c.queue(name(), exclusive());
        assertThat(a.store().release(held)).isTrue();
        b.awaitGrant(next);
        b.store().withdraw(next);
        c.awaitGrant(last);
        assertThat(waiters(name())).isZero();
    }

    @Test
    void aClaimThatFirstArrivesAfterItsDeadlineIsRefused() throws Exception {
        SpiClient client = client();
        StoreTime now = client.time(name());
        Claim late = client.newClaim(name(), exclusive(), now);
        await("store time passes", () -> client.time(name()).micros() > now.micros() + 2_000);
        assertThat(SpiClient.refused(client.store().claim(late))).isEqualTo(Answer.Why.LATE);
        Claim ofAnotherClock =
                client.newClaim(name(), exclusive(), new StoreTime(now.incarnation() + 1, now.micros() + 60_000_000));
        assertThat(SpiClient.refused(client.store().claim(ofAnotherClock))).isEqualTo(Answer.Why.LATE);
        assertIdle(name());
    }

    @Test
    void aDeadlineEndsNeitherAHoldNorAPlaceInTheQueue() throws Exception {
        needsQueue();
        SpiClient client = client();
        StoreTime soon = client.time(name()).plusMicros(300_000);
        Claim held = client.newClaim(name(), exclusive(), soon);
        Claim queued = client.newClaim(name(), exclusive(), soon);
        Answer first = client.store().claim(held);
        Answer second = client.store().claim(queued);
        await("the deadline passes", () -> client.time(name()).micros() > soon.micros() + 2_000);
        if (first instanceof Answer.Granted && second instanceof Answer.Queued) { // otherwise we were too slow
            assertThat(client.store().claim(held.asStray())).isInstanceOf(Answer.Granted.class);
            assertThat(client.store().claim(queued.asStray())).isInstanceOf(Answer.Queued.class);
        }
    }

    @Test
    void noIdIsGrantedTwiceWhenItsHoldExpires() throws Exception {
        SpiClient client = client();
        Claim claim = client.newClaim(name(), lasting(exclusive(), millis(100)));
        SpiClient.granted(client.store().claim(claim));
        SpiClient.granted(client.store().claim(claim.asStray()));
        awaitIdle(name());
        assertThat(client.store().claim(claim.asStray()))
                .as("one more copy, that was on its way")
                .isInstanceOf(Answer.Refused.class);
        assertIdle(name());
    }

    @Test
    void noIdIsGrantedTwiceWhenItsHoldIsBroken() {
        SpiClient client = client();
        Claim claim = client.newClaim(name(), exclusive());
        Answer.Granted granted = SpiClient.granted(client.store().claim(claim));
        SpiClient.granted(client.store().claim(claim.asStray()));
        assertThat(client.store().breakHold(name(), granted.token(), Duration.ZERO, true))
                .isTrue();
        assertThat(client.store().claim(claim.asStray())).isInstanceOf(Answer.Refused.class);
        assertIdle(name());
    }

    @Test
    void noIdIsQueuedAgainWhenItsPlaceWasLost() throws Exception {
        needsQueue();
        SpiClient a = client();
        SpiClient b = client();
        a.hold(name(), exclusive());
        Claim claim = b.newClaim(name(), waiting(exclusive(), Duration.ofMillis(100)));
        SpiClient.queued(b.store().claim(claim));
        SpiClient.queued(b.store().claim(claim.asStray()));
        awaitWaiters(name(), 0);
        assertThat(b.store().claim(claim.asStray())).isInstanceOf(Answer.Refused.class);
        assertThat(SpiClient.refused(b.refresh(claim))).isEqualTo(Answer.Why.GONE);
        assertThat(waiters(name())).isZero();
    }

    @Test
    void noIdIsQueuedAgainWhenItsClientWasSkipped() throws Exception {
        needsQueue();
        SpiClient a = client();
        SpiClient b = client();
        Grant held = a.hold(name(), exclusive());
        b.queue(name(), lasting(exclusive(), millis(100)));
        Claim other = b.queue(name(), lasting(exclusive(), millis(100)));
        SpiClient.queued(b.store().claim(other.asStray()));
        Claim behind = a.queue(name(), exclusive());
        assertThat(a.store().release(held)).isTrue();
        a.awaitGrant(behind); // the first was never taken up
        assertThat(b.store().claim(other.asStray())).isInstanceOf(Answer.Refused.class);
        assertThat(waiters(name())).isZero();
    }
}
