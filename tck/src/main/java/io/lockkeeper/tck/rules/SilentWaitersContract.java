// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck.rules;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.spi.Answer;
import io.lockkeeper.spi.Claim;
import io.lockkeeper.spi.ClaimId;
import io.lockkeeper.spi.Grant;
import io.lockkeeper.spi.Renewal;
import io.lockkeeper.spi.StoreTime;
import io.lockkeeper.spi.Terms;
import io.lockkeeper.tck.support.Promise;
import io.lockkeeper.tck.support.SpiClient;
import io.lockkeeper.tck.support.StepContract;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The part of rule 7 about killed clients ahead in the queue: when a handed-over grant was not taken up, all claims that have
 * been silent since are skipped at once; see {@link Terms#allowedSilence}.
 */
public abstract class SilentWaitersContract extends StepContract {
    private static final Duration SECOND = Duration.ofSeconds(1);

    /** A round in which this machine was too slow is played again, this many times. */
    private static final int ROUNDS = 10;

    /** The terms of claims whose first lease, and allowed silence, is one second. */
    private static Terms brief() {
        return lasting(exclusive(), SECOND);
    }

    private void needsSilence() {
        needsQueue();
        Promise.neededWithoutSessions(store());
    }

    @ParameterizedTest
    @CsvSource({"1, 1", "3, 1", "6, 1", "3, 8"})
    @DisplayName("H66, H116: any number of killed clients, with any number of waiting threads, stall the queue once")
    void anyNumberOfDeadClientsStallTheQueueOnce(int clients, int threads) throws Exception {
        needsSilence();
        SpiClient holder = client();
        SpiClient lives = client();
        List<SpiClient> dead = new ArrayList<>();
        for (int i = 0; i < clients; i++) {
            dead.add(client());
        }
        Grant held = holder.hold(name(), exclusive());
        List<Claim> silent = new ArrayList<>();
        for (int i = 0; i < clients * threads; i++) {
            silent.add(dead.get(i % clients).queue(name(), brief()));
        }
        AtomicReference<Claim> claim = new AtomicReference<>(lives.queue(name(), exclusive()));
        assertThat(holder.store().release(held)).isTrue();

        Set<Long> handedOver = new HashSet<>();
        await("the live one's turn", () -> {
            for (long token : holders(name())) {
                handedOver.add(token);
            }
            Answer answer = lives.refresh(Objects.requireNonNull(claim.get()));
            if (answer instanceof Answer.Refused) {
                // This thread was suspended for longer than the store waits for a client: then a client claims again.
                Claim again = lives.newClaim(name(), exclusive());
                claim.set(again);
                answer = lives.store().claim(again);
            }
            if (answer instanceof Answer.Granted granted) {
                handedOver.remove(granted.token());
            }
            return answer instanceof Answer.Granted;
        });

        assertThat(handedOver).as("grants that nobody took up").hasSizeLessThanOrEqualTo(1);
        List<ClaimId> told = new ArrayList<>();
        dead.forEach(client -> told.addAll(client.toldGranted()));
        assertThat(told).isSubsetOf(silent.get(0).id());
        assertThat(waiters(name())).isZero();
        for (int i = 0; i < silent.size(); i++) {
            assertThat(SpiClient.refused(dead.get(i % clients).refresh(silent.get(i))))
                    .isEqualTo(Answer.Why.GONE);
        }
    }

    // ---- Who stays ----

    /** Refreshes claims in turn, and notes whether that was often enough for a live client. */
    private static final class Pulse {
        private long last;
        private boolean isSteady = true;

        Pulse(StoreTime from) {
            last = from.micros();
        }

        /** Half of the allowed silence of two claims that take turns. */
        void at(StoreTime time) {
            isSteady &= time.micros() - last < SECOND.toNanos() / 1_000 / 2;
            last = time.micros();
        }

        Answer refresh(SpiClient client, Claim claim) {
            Answer answer = client.refresh(claim);
            at(answer.at());
            return answer;
        }
    }

    @Test
    void waitersThatRefreshKeepTheirPlaces() throws Exception {
        needsSilence();
        boolean played = false;
        for (int round = 0; round < ROUNDS && !played; round++) {
            played = playedWithWaitersThatRefresh(name("round" + round));
        }
        assertThat(played).as("this machine could refresh in time").isTrue();
    }

    private boolean playedWithWaitersThatRefresh(String name) throws Exception {
        SpiClient holder = client();
        SpiClient dead = client();
        SpiClient alsoDead = client();
        SpiClient first = client();
        SpiClient second = client();
        Grant held = holder.hold(name, exclusive());
        dead.queue(name, brief());
        Pulse pulse = new Pulse(holder.time(name));
        Claim earlier = first.queue(name, brief());
        Claim silent = alsoDead.queue(name, brief());
        Claim later = second.queue(name, brief());
        assertThat(holder.store().release(held)).isTrue();

        AtomicReference<Answer> answer = new AtomicReference<>();
        await("the first one's turn", () -> {
            Answer ofLater = pulse.refresh(second, later);
            answer.set(pulse.refresh(first, earlier));
            assertThat(ofLater)
                    .matches(a -> !pulse.isSteady || a instanceof Answer.Queued, "it is in the queue, after another");
            return !pulse.isSteady || !(answer.get() instanceof Answer.Queued);
        });
        if (!pulse.isSteady) {
            return false;
        }
        Answer.Granted granted = SpiClient.granted(Objects.requireNonNull(answer.get()));
        Renewal.Outcome confirmed = first.renew(Grant.of(earlier, granted), VERY_LONG);
        Answer ofLater = pulse.refresh(second, later);
        if (!pulse.isSteady) {
            return false;
        }
        assertThat(confirmed).isInstanceOf(Renewal.Kept.class);
        assertThat(SpiClient.queued(ofLater).ahead())
                .as("the silent one is gone")
                .isZero();
        assertThat(SpiClient.refused(alsoDead.refresh(silent))).isEqualTo(Answer.Why.GONE);
        return true;
    }

    @ParameterizedTest
    @ValueSource(ints = {200, 600_000})
    @DisplayName("a waiter may be silent for its first lease, and for a second if that is shorter")
    void aWaiterMayBeSilentForAWhile(int lease) throws Exception {
        needsSilence();
        Terms terms = lasting(exclusive(), Duration.ofMillis(lease));
        boolean played = false;
        for (int round = 0; round < ROUNDS && !played; round++) {
            String name = name("round" + round);
            SpiClient holder = client();
            Grant held = holder.hold(name, exclusive());
            client().queue(name, lasting(exclusive(), millis(200)));
            StoreTime before = holder.time(name);
            SpiClient quiet = client();
            Claim claim = quiet.queue(name, terms);
            assertThat(holder.store().release(held)).isTrue();
            Answer next = claimAfterExpiry(name);
            played = next.at().micros() - before.micros()
                    < terms.allowedSilence().toNanos() / 1_000;
            if (played) {
                awaitHandOver(quiet, claim, next);
            }
        }
        assertThat(played).as("this machine was quick enough").isTrue();
    }

    @Test
    void theEndOfAConfirmedHoldSkipsNobody() throws Exception {
        needsSilence();
        client().hold(name(), brief());
        SpiClient quiet = client();
        Claim claim = quiet.queue(name(), brief());
        awaitHandOver(quiet, claim, claimAfterExpiry(name()));
    }

    @Test
    void aStrayClaimThatWasSkippedIsRefusedWhenItsCopyArrives() throws Exception {
        needsSilence();
        SpiClient holder = client();
        SpiClient other = client();
        Grant held = holder.hold(name(), exclusive());
        client().queue(name(), brief());
        Claim stray = other.queue(name(), brief()).asStray();
        assertThat(other.store().claim(stray)).isInstanceOf(Answer.Queued.class);
        assertThat(holder.store().release(held)).isTrue();
        assertThat(claimAfterExpiry(name())).as("nobody is left").isInstanceOf(Answer.Granted.class);
        assertThat(SpiClient.refused(other.store().claim(stray))).isEqualTo(Answer.Why.GONE);
    }

    /** Waits until the lease of the holder has ended, only looking, and claims then. */
    private Answer claimAfterExpiry(String name) throws InterruptedException {
        SpiClient next = client();
        Claim claim = next.newClaim(name, exclusive());
        long[] before = holders(name);
        await("the end of the lease", () -> before.length == 0 || !Arrays.equals(before, holders(name)));
        return next.store().claim(claim);
    }

    /**
     * Waits for a proof that a claim was not skipped: the next one is queued after it, or its grant was signalled. (A store may
     * look at what has ended when others use it, and that grant may have ended before we claimed.)
     */
    private static void awaitHandOver(SpiClient client, Claim claim, Answer ofNext) throws InterruptedException {
        await(
                "the hand-over to a silent claim",
                () -> ofNext instanceof Answer.Queued || client.toldGranted().contains(claim.id()));
    }
}
