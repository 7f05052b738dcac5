// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.model;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.Mode;
import io.lockkeeper.spi.Answer;
import io.lockkeeper.spi.Claim;
import io.lockkeeper.spi.Grant;
import io.lockkeeper.spi.Terms;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A grant that nobody took up takes along all claims that have been silent for as long; at exact times. (Law 7, H66.) */
final class ModelSilentWaitersTest {
    private static final Duration FIRST = Terms.FIRST_LEASE;

    private final Bench bench = new Bench();

    private Claim queued(Claim claim) {
        assertThat(bench.send(claim)).isInstanceOf(Answer.Queued.class);
        return claim;
    }

    private Claim queued(String client, long lease) {
        Terms terms = Bench.leased(Bench.terms(Mode.EXCLUSIVE), Duration.ofMillis(lease), Duration.ZERO);
        return queued(bench.claim(client, "x", terms));
    }

    private void assertQueued(Claim claim, int ahead) {
        assertThat(bench.refresh(claim))
                .isInstanceOfSatisfying(Answer.Queued.class, queued -> assertThat(queued.ahead())
                        .isEqualTo(ahead));
    }

    private void assertGone(Answer answer) {
        assertThat(answer).isInstanceOfSatisfying(Answer.Refused.class, refused -> assertThat(refused.why())
                .isEqualTo(Answer.Why.GONE));
    }

    private int waiters() {
        return bench.inspect().orElseThrow().waiters();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3, 6})
    void anyNumberOfDeadClientsStallTheQueueOnce(int dead) {
        Grant first = bench.grant(bench.writer("a"));
        for (int thread = 0; thread < 3; thread++) {
            for (int client = 0; client < dead; client++) {
                queued(bench.writer("dead" + client));
            }
        }
        Claim alive = queued(bench.writer("alive"));
        bench.release(first);
        bench.pass(1_000);
        assertQueued(alive, 3 * dead - 1);
        bench.pass(FIRST.toMillis() - 1_001);
        assertQueued(alive, 3 * dead - 1);
        bench.pass(1);
        assertThat(bench.refresh(alive)).isInstanceOf(Answer.Granted.class);
        assertThat(waiters()).isZero();
    }

    @Test
    void claimsRefreshedAfterTheHandOverStayInOrder() {
        Grant first = bench.grant(bench.writer("a"));
        queued(bench.writer("dead1"));
        Claim next = queued(bench.writer("b"));
        queued(bench.writer("dead2"));
        Claim last = queued(bench.writer("c"));
        bench.release(first);
        bench.pass(1);
        assertQueued(last, 2);
        assertQueued(next, 0);
        bench.pass(FIRST.toMillis() - 1);
        assertQueued(last, 0);
        assertThat(bench.refresh(next)).isInstanceOf(Answer.Granted.class);
    }

    @Test
    void aRefreshAtTheVeryMomentOfTheHandOverDoesNotCount() {
        Grant first = bench.grant(bench.writer("a"));
        queued(bench.writer("dead"));
        Claim silent = queued(bench.writer("b"));
        bench.pass(1_000);
        assertQueued(silent, 1);
        bench.release(first);
        bench.pass(FIRST.toMillis());
        assertGone(bench.refresh(silent));
    }

    @Test
    void aClaimThatCameAfterTheHandOverStays() {
        Grant first = bench.grant(bench.writer("a"));
        queued(bench.writer("dead"));
        bench.release(first);
        bench.pass(1);
        Claim later = queued(bench.writer("b"));
        bench.pass(FIRST.toMillis() * 3);
        assertThat(bench.refresh(later)).isInstanceOf(Answer.Granted.class);
    }

    @Test
    void aClaimMayBeSilentForAsLongAsItsOwnFirstLease() {
        Grant first = bench.grant(bench.writer("a"));
        queued("dead", 1_500);
        Claim dead = queued("dead2", 1_500);
        Claim quiet = queued("quiet", FIRST.toMillis());
        bench.release(first);
        bench.pass(1_500);
        assertThat(bench.refresh(quiet)).isInstanceOf(Answer.Granted.class);
        assertGone(bench.refresh(dead));
    }

    @Test
    void aClaimMayBeSilentForASecondHoweverShortItsLease() {
        Grant first = bench.grant(bench.writer("a"));
        queued("dead", 100);
        Claim quiet = queued("quiet", 100);
        bench.release(first);
        bench.pass(999);
        assertThat(bench.refresh(quiet)).isInstanceOf(Answer.Granted.class);
    }

    @Test
    void afterThatSecondItIsDropped() {
        Grant first = bench.grant(bench.writer("a"));
        queued("dead", 100);
        Claim silent = queued("silent", 100);
        bench.release(first);
        bench.pass(1_000);
        assertGone(bench.refresh(silent));
        assertThat(bench.inspect()).isEmpty();
    }

    @Test
    void theEndOfAConfirmedHoldChangesNothingForWaiters() {
        Grant first = bench.grant(bench.writer("a"));
        Claim second = queued(bench.writer("b"));
        Claim silent = queued(bench.writer("c"));
        bench.release(first);
        bench.renew(bench.told(second), Bench.LEASE);
        bench.pass(Bench.LEASE.toMillis());
        assertThat(bench.refresh(silent)).isInstanceOf(Answer.Granted.class);
    }

    @Test
    void norDoesTheEndOfAHoldThatWasBroken() {
        Grant first = bench.grant(bench.writer("a"));
        Claim second = queued(bench.writer("b"));
        Claim silent = queued(bench.writer("c"));
        bench.release(first);
        bench.breakHold(bench.told(second).token(), Duration.ZERO, false);
        bench.pass(FIRST.toMillis());
        assertThat(bench.refresh(silent)).isInstanceOf(Answer.Granted.class);
    }

    @Test
    void silenceCountsFromTheHandOverOfTheHoldThatExpires() {
        Grant first = bench.grant(bench.writer("a"));
        Claim reader = queued(bench.reader("b"));
        queued(bench.reader("dead"));
        Claim silent = queued(bench.writer("c"));
        bench.release(first);
        Grant kept = bench.told(reader);
        bench.pass(1_000);
        assertQueued(silent, 0);
        bench.renew(kept, Bench.LEASE);
        bench.pass(FIRST.toMillis());
        assertThat(bench.refresh(silent))
                .as("it has been refreshed since the dead reader got its grant")
                .isInstanceOf(Answer.Queued.class);
        assertThat(bench.inspect().orElseThrow().holders()).hasSize(1);
    }

    @Test
    void aStrayClaimThatIsDroppedIsRefusedWhenItsCopyComes() {
        Grant first = bench.grant(bench.writer("a"));
        queued("dead", 500);
        Claim stray = queued(bench.claim(
                        "silent", "x", Bench.leased(Bench.terms(Mode.EXCLUSIVE), Duration.ofMillis(500), Duration.ZERO))
                .asStray());
        bench.release(first);
        bench.pass(1_000);
        assertGone(bench.send(stray));
    }
}
