// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.LeaseLost;
import io.lockkeeper.spi.Answer;
import io.lockkeeper.spi.Claim;
import io.lockkeeper.spi.ClaimId;
import io.lockkeeper.spi.Grant;
import io.lockkeeper.spi.Signals;
import io.lockkeeper.spi.Subscription;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;

/** Signals are delivered, lost or kept back as requested. */
final class FaultySignalsTest extends FaultyStoreRig {
    /** Records the signals it gets. */
    private static final class Notes implements Signals {
        final List<String> told = new CopyOnWriteArrayList<>();

        @Override
        public void granted(ClaimId claim, Answer.Granted grant) {
            told.add("granted");
        }

        @Override
        public void recalled(ClaimId claim) {
            told.add("recalled");
        }

        @Override
        public void changed(ClaimId claim) {
            told.add("changed");
        }

        @Override
        public void lost(ClaimId claim, LeaseLost.Reason reason) {
            told.add("lost");
        }

        @Override
        public void opened(String latch) {
            told.add("opened");
        }

        @Override
        public void sessionLost(String why) {
            told.add("sessionLost");
        }

        @Override
        public void missed() {
            told.add("missed");
        }
    }

    /** Has two claims of b queued behind one of a, and releases that of a: b is told of one grant. */
    private Grant handOver() {
        Claim first = claim("a");
        Grant grant = Grant.of(first, (Answer.Granted) real.claim(first));
        real.claim(claim("b"));
        real.release(grant);
        return grant;
    }

    @Test
    void signalsPassUnlessTheyAreLost() {
        Notes notes = new Notes();
        try (Subscription subscription = store.listen("b", notes)) {
            assertThat(subscription).isNotNull();
            handOver();
            assertThat(notes.told).containsExactly("granted");
            long token = real.inspect("x").orElseThrow().holders().get(0).token();
            store.loseSignals(true);
            real.breakHold("x", token, Duration.ZERO, false);
            store.loseSignals(false);
            real.breakHold("x", token, Duration.ZERO, true);
            assertThat(notes.told).containsExactly("granted", "lost");
        }
        handOver();
        assertThat(notes.told).as("none after the subscription has ended").hasSize(2);
    }

    @Test
    void signalsAreKeptBackInOrderUntilTheyAreDelivered() {
        Notes notes = new Notes();
        store.listen("b", notes);
        store.holdSignals();
        handOver();
        real.breakHold("x", real.inspect("x").orElseThrow().holders().get(0).token(), Duration.ZERO, false);
        assertThat(notes.told).isEmpty();
        store.deliverSignals();
        assertThat(notes.told).containsExactly("granted", "recalled");
        store.deliverSignals();
        assertThat(notes.told).hasSize(2);
        real.breakHold("x", real.inspect("x").orElseThrow().holders().get(0).token(), Duration.ZERO, true);
        assertThat(notes.told).as("and pass again").containsExactly("granted", "recalled", "lost");
    }

    @Test
    void aSignalHasTheFateThatIsDecidedForIt() {
        Notes notes = new Notes();
        store.listen("b", notes);
        store.disturbSignals(() -> SignalFate.TWICE);
        handOver();
        assertThat(notes.told).containsExactly("granted");
        store.disturbSignals(() -> SignalFate.HELD);
        long token = real.inspect("x").orElseThrow().holders().get(0).token();
        real.breakHold("x", token, Duration.ZERO, false);
        store.disturbSignals(() -> SignalFate.LOST);
        real.breakHold("x", token, Duration.ZERO, true);
        assertThat(notes.told).hasSize(1);
        store.deliverSignals(new Random(1));
        assertThat(notes.told).containsExactlyInAnyOrder("granted", "granted", "recalled");
    }

    @Test
    void aClosedSubscriptionReceivesNothing() {
        Notes notes = new Notes();
        Subscription subscription = store.listen("b", notes);
        store.holdSignals();
        handOver();
        subscription.close();
        store.deliverSignals();
        assertThat(notes.told).isEmpty();
    }

    @Test
    void nothingGoesWrongAfterCalm() {
        Notes notes = new Notes();
        store.listen("b", notes);
        store.holdSignals();
        handOver();
        store.fail(StepKind.CLAIM);
        store.loseSignals(true);
        store.down();
        store.calm();
        assertThat(notes.told).containsExactly("missed", "granted");
        store.claim(claim("a"));
    }

    @Test
    void anOutageDropsSignalsAndThenReportsThatSomeWereMissed() {
        Notes notes = new Notes();
        store.listen("b", notes);
        store.down();
        handOver();
        assertThat(notes.told).isEmpty();
        store.up();
        assertThat(notes.told).containsExactly("missed");
    }
}
