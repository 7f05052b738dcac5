// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.model;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.LeaseLost.Reason;
import io.lockkeeper.Mode;
import io.lockkeeper.spi.Answer;
import io.lockkeeper.spi.Claim;
import io.lockkeeper.spi.Grant;
import io.lockkeeper.spi.Renewal;
import io.lockkeeper.spi.Renewals;
import io.lockkeeper.spi.Terms;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Hand-over, confirmation, renewal and expiry, at exact times. (Law 5, 7 and 12.) */
final class ModelHandOverTest {
    private static final Duration FIRST = Terms.FIRST_LEASE;

    private final Bench bench = new Bench();

    private Claim queued(Claim claim) {
        assertThat(bench.send(claim)).isInstanceOf(Answer.Queued.class);
        return claim;
    }

    private static Duration remaining(Answer answer) {
        return ((Answer.Granted) answer).remaining();
    }

    @Test
    void aReleaseHandsOverToTheNextAloneWithAShortFirstLease() {
        Grant first = bench.grant(bench.writer("a"));
        Claim second = queued(bench.writer("b"));
        queued(bench.writer("c"));
        bench.release(first);
        assertThat(bench.signals).hasSize(1);
        Signal.Granted told = (Signal.Granted) bench.signals.get(0);
        assertThat(told.client()).isEqualTo("b");
        assertThat(told.grant().confirmed()).isFalse();
        assertThat(told.grant().remaining()).isEqualTo(FIRST);
        assertThat(bench.told(second).token()).isGreaterThan(first.token() + Bench.BLOCK - 1);
    }

    @Test
    void theFirstLeaseIsNoLongerThanTheLease() {
        Grant first = bench.grant(bench.writer("a"));
        Terms shorter = Bench.leased(Bench.terms(Mode.EXCLUSIVE), Duration.ofMillis(200), Duration.ZERO);
        Claim second = queued(bench.claim("b", "x", shorter));
        bench.release(first);
        assertThat(remaining(bench.send(second))).isEqualTo(Duration.ofMillis(200));
    }

    @Test
    void readersQueuedTogetherAreGrantedTogetherUpToTheNextWriter() {
        Grant writer = bench.grant(bench.writer("a"));
        Claim one = queued(bench.reader("b"));
        Claim two = queued(bench.reader("c"));
        queued(bench.writer("d"));
        queued(bench.reader("e"));
        bench.release(writer);
        assertThat(bench.signals).hasSize(2);
        assertThat(bench.told(one).token()).isNotEqualTo(bench.told(two).token());
    }

    @Test
    void theFirstRenewalConfirmsAndLengthens() {
        Grant first = bench.grant(bench.writer("a"));
        Claim second = queued(bench.writer("b"));
        bench.release(first);
        Grant grant = bench.told(second);
        bench.pass(1_000);
        assertThat(bench.renew(grant, Bench.LEASE)).isEqualTo(new Renewal.Kept(Bench.LEASE));
        Answer.Granted standing = (Answer.Granted) bench.send(second);
        assertThat(standing.confirmed()).isTrue();
        assertThat(standing.remaining()).isEqualTo(Bench.LEASE);
    }

    @Test
    void aRenewalNeverShortens() {
        Grant grant = bench.grant(bench.writer("a"));
        bench.pass(1_000);
        assertThat(bench.renew(grant, Duration.ofMillis(1))).isEqualTo(new Renewal.Kept(Bench.LEASE.minusSeconds(1)));
    }

    @Test
    void aRenewalMayRaiseTheTokensToCome() {
        Grant grant = bench.grant(bench.writer("a"));
        bench.apply(
                new Command.Renew(new Renewals(List.of(new Renewals.Hold(grant, Bench.LEASE, 1_000_000)), List.of())));
        bench.release(grant);
        assertThat(bench.grant(bench.writer("b")).token()).isGreaterThan(1_000_000);
    }

    @Test
    void aRenewalOfWhatIsNotHeldSaysSoAndRaisesNothing() {
        Grant grant = bench.grant(bench.writer("a"));
        bench.release(grant);
        Renewal renewal = bench.apply(
                new Command.Renew(new Renewals(List.of(new Renewals.Hold(grant, Bench.LEASE, 1_000_000)), List.of())));
        assertThat(renewal.holds()).containsExactly(new Renewal.Lost(Reason.EXPIRED));
        assertThat(bench.grant(bench.writer("b")).token()).isLessThan(1_000_000);
    }

    @Test
    void aRefreshReportsAGrantButNeitherConfirmsNorLengthensIt() {
        Grant first = bench.grant(bench.writer("a"));
        Claim second = queued(bench.writer("b"));
        assertThat(bench.refresh(second)).isInstanceOf(Answer.Queued.class);
        bench.release(first);
        bench.pass(1_000);
        Answer.Granted found = (Answer.Granted) bench.refresh(second);
        assertThat(found.confirmed()).isFalse();
        assertThat(found.remaining()).isEqualTo(FIRST.minusSeconds(1));
        bench.pass(FIRST.toMillis());
        assertThat(((Answer.Refused) bench.refresh(second)).why()).isEqualTo(Answer.Why.GONE);
    }

    @Test
    void aRefreshKeepsThePlaceInTheQueueButMakesNone() {
        Grant holder = bench.grant(bench.writer("a"));
        bench.renew(holder, Bench.PATIENCE);
        Claim kept = queued(bench.writer("b"));
        Claim forgotten = queued(bench.writer("c"));
        long half = Bench.PATIENCE.toMillis() / 2;
        for (int i = 0; i < 2; i++) {
            bench.pass(half);
            bench.renew(holder, Bench.PATIENCE);
            assertThat(bench.refresh(kept)).isInstanceOf(Answer.Queued.class);
        }
        assertThat(((Answer.Refused) bench.refresh(forgotten)).why()).isEqualTo(Answer.Why.GONE);
        assertThat(((Answer.Refused) bench.refresh(bench.writer("d"))).why()).isEqualTo(Answer.Why.GONE);
        assertThat(bench.inspect().orElseThrow().waiters()).isEqualTo(1);
    }

    @Test
    void aHoldEndsWhenItsLeaseEndsAndNotBefore() {
        Grant grant = bench.grant(bench.writer("a"));
        Claim second = queued(bench.writer("b"));
        bench.pass(Bench.LEASE.toMillis() - 1);
        assertThat(bench.check(grant)).isTrue();
        assertThat(bench.refresh(second)).isInstanceOf(Answer.Queued.class);
        bench.pass(1);
        assertThat(bench.check(grant)).isFalse();
        assertThat(bench.refresh(second)).isInstanceOf(Answer.Granted.class);
        assertThat(bench.signals).contains(new Signal.Lost(grant.claim().id(), Reason.EXPIRED));
        assertThat(bench.release(grant)).isFalse();
        assertThat(bench.renew(grant, Bench.LEASE)).isEqualTo(new Renewal.Lost(Reason.EXPIRED));
    }

    @Test
    void theLockDelayKeepsTheNameClosedAfterExpiryOfAConfirmedHold() {
        Terms delayed = Bench.leased(Bench.terms(Mode.EXCLUSIVE), Bench.LEASE, Duration.ofSeconds(5));
        bench.grant(bench.claim("a", "x", delayed));
        Claim second = queued(bench.writer("b"));
        bench.pass(Bench.LEASE.toMillis());
        Answer.Queued closed = (Answer.Queued) bench.refresh(second);
        assertThat(closed.retryAfter()).isEqualTo(Duration.ofSeconds(5));
        assertThat(bench.inspect().orElseThrow().closedFor()).isEqualTo(Duration.ofSeconds(5));
        Answer once = bench.send(bench.claim("c", "x", Bench.once(Bench.terms(Mode.EXCLUSIVE))));
        assertThat(((Answer.Refused) once).why()).isEqualTo(Answer.Why.BUSY);
        bench.pass(4_999);
        assertThat(bench.refresh(second)).isInstanceOf(Answer.Queued.class);
        bench.pass(1);
        assertThat(bench.refresh(second)).isInstanceOf(Answer.Granted.class);
    }

    @Test
    void theLockDelayCountsFromTheExpiryHoweverLateItIsNoticed() {
        Terms delayed = Bench.leased(Bench.terms(Mode.EXCLUSIVE), Bench.LEASE, Duration.ofSeconds(5));
        bench.grant(bench.claim("a", "x", delayed));
        bench.pass(Bench.LEASE.toMillis() + 4_000);
        assertThat(((Answer.Queued) bench.send(bench.writer("b"))).retryAfter()).isEqualTo(Duration.ofSeconds(1));
    }

    @Test
    void inspectionShowsTheLockDelayOfAnExpiredHoldToo() {
        Terms delayed = Bench.leased(Bench.terms(Mode.EXCLUSIVE), Bench.LEASE, Duration.ofSeconds(5));
        bench.grant(bench.claim("a", "x", delayed));
        bench.pass(Bench.LEASE.toMillis() + 1_000);
        assertThat(bench.inspect()).hasValueSatisfying(info -> {
            assertThat(info.holders()).isEmpty();
            assertThat(info.closedFor()).isEqualTo(Duration.ofSeconds(4));
        });
    }

    @Test
    void thereIsNoLockDelayAfterARelease() {
        Terms delayed = Bench.leased(Bench.terms(Mode.EXCLUSIVE), Bench.LEASE, Duration.ofSeconds(5));
        bench.release(bench.grant(bench.claim("a", "x", delayed)));
        assertThat(bench.send(bench.writer("b"))).isInstanceOf(Answer.Granted.class);
    }

    @Test
    void aHoldThatWasNeverConfirmedExpiresWithoutLockDelayAndTakesItsClientsEntriesAlong() {
        Terms delayed = Bench.leased(Bench.terms(Mode.EXCLUSIVE), Bench.LEASE, Duration.ofSeconds(60));
        Grant first = bench.grant(bench.writer("a"));
        queued(bench.claim("dead", "x", delayed));
        Claim second = queued(bench.claim("dead", "x", delayed));
        Claim alive = queued(bench.writer("b"));
        Claim third = queued(bench.claim("dead", "x", delayed));
        bench.release(first);
        bench.pass(1);
        assertThat(bench.refresh(alive)).isInstanceOf(Answer.Queued.class);
        bench.pass(FIRST.toMillis() - 1);
        assertThat(bench.refresh(alive)).as("stalled once, for the first lease").isInstanceOf(Answer.Granted.class);
        assertThat(((Answer.Refused) bench.refresh(second)).why()).isEqualTo(Answer.Why.GONE);
        assertThat(((Answer.Refused) bench.refresh(third)).why()).isEqualTo(Answer.Why.GONE);
        assertThat(bench.inspect().orElseThrow().closedFor()).isZero();
    }

    @Test
    void theEntriesTakenAlongAreOfThatNameOnly() {
        Grant x = bench.grant(bench.writer("a"));
        bench.grant(bench.claim("a", "y", Bench.terms(Mode.EXCLUSIVE)));
        queued(bench.writer("dead"));
        Claim elsewhere = bench.claim("dead", "y", Bench.terms(Mode.EXCLUSIVE));
        bench.send(elsewhere);
        bench.release(x);
        bench.pass(FIRST.toMillis());
        assertThat(bench.send(bench.writer("b"))).isInstanceOf(Answer.Granted.class);
        assertThat(bench.refresh(elsewhere)).isInstanceOf(Answer.Queued.class);
    }

    /** The entries that go with a dead client may have copies on their way, like any other. */
    @Test
    void aStrayEntryTakenAlongIsRefusedWhenItsCopyComes() {
        Terms brief = Bench.leased(Bench.terms(Mode.EXCLUSIVE), Duration.ofMillis(500), Duration.ZERO);
        Grant first = bench.grant(bench.writer("a"));
        queued(bench.claim("b", "x", brief));
        Claim stray = queued(bench.claim("b", "x", brief).asStray());
        bench.release(first);
        bench.pass(500);
        assertThat(((Answer.Refused) bench.refresh(stray)).why()).isEqualTo(Answer.Why.GONE);
        assertThat(bench.send(stray))
                .as("a copy of it that was on its way")
                .isInstanceOfSatisfying(Answer.Refused.class, refused -> assertThat(refused.why())
                        .isEqualTo(Answer.Why.GONE));
    }

    @Test
    void anExclusiveHoldIsDowngradedWithoutAGapWithTheNextTokenOfItsBlock() {
        Grant writer = bench.grant(bench.writer("a"));
        Claim reader = queued(bench.reader("b"));
        Claim nextWriter = queued(bench.writer("c"));
        Grant shared = bench.downgrade(writer).orElseThrow();
        assertThat(shared.mode()).isEqualTo(Mode.SHARED);
        assertThat(shared.token()).isEqualTo(writer.token() + 1);
        assertThat(shared.block()).isEqualTo(Bench.BLOCK - 1);
        assertThat(bench.told(reader).token()).isGreaterThan(writer.token() + Bench.BLOCK - 1);
        assertThat(bench.downgrade(writer)).as("the same again").contains(shared);
        assertThat(bench.check(shared)).isTrue();
        assertThat(bench.refresh(nextWriter)).isInstanceOf(Answer.Queued.class);
        assertThat(bench.release(shared)).isTrue();
        assertThat(bench.downgrade(writer)).as("when there is no such hold").isEmpty();
    }

    @Test
    void aDowngradeWithNoTokenLeftDrawsAFreshOne() {
        Grant writer = bench.grant(bench.writer("a"));
        Grant last = new Grant(writer.claim(), writer.mode(), writer.token() + Bench.BLOCK - 1, 1);
        assertThat(bench.downgrade(last).orElseThrow().token()).isGreaterThan(last.token());
    }
}
