// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.model;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.Mode;
import io.lockkeeper.spi.Answer;
import io.lockkeeper.spi.Claim;
import io.lockkeeper.spi.Grant;
import io.lockkeeper.spi.StoreTime;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Claims: who is let in, who queues, who is refused; and that none is carried out twice. (Law 1 to 4 and 6.) */
final class ModelClaimTest {
    private final Bench bench = new Bench();

    private static Answer.Why why(Answer answer) {
        return ((Answer.Refused) answer).why();
    }

    @Test
    void aFreeNameIsGrantedAtOnceForTheWholeLeaseAndNeedsNoConfirmation() {
        Answer.Granted granted = (Answer.Granted) bench.send(bench.writer("a"));
        assertThat(granted.token()).isPositive();
        assertThat(granted.block()).isEqualTo(Bench.BLOCK);
        assertThat(granted.remaining()).isEqualTo(Bench.LEASE);
        assertThat(granted.confirmed()).isTrue();
        assertThat(granted.at()).isEqualTo(bench.in(0));
        assertThat(bench.signals).isEmpty();
    }

    @Test
    void aTakenNameQueuesClaimsThatWaitAndRefusesThoseThatDoNot() {
        bench.send(bench.writer("a"));
        Answer.Queued queued = (Answer.Queued) bench.send(bench.writer("b"));
        assertThat(queued.ahead()).isZero();
        assertThat(queued.retryAfter())
                .as("the head looks when the lease before it ends")
                .isEqualTo(Bench.LEASE);
        Answer.Queued second = (Answer.Queued) bench.send(bench.writer("c"));
        assertThat(second.ahead()).isEqualTo(1);
        assertThat(second.retryAfter())
                .as("the others look at a slow interval only")
                .isEqualTo(Bench.PATIENCE.dividedBy(3));
        Answer refused = bench.send(bench.claim("d", "x", Bench.once(Bench.terms(Mode.EXCLUSIVE))));
        assertThat(why(refused)).isEqualTo(Answer.Why.BUSY);
        assertThat(((Answer.Refused) refused).detail()).as("nobody reads it").isEmpty();
        assertThat(bench.inspect().orElseThrow().waiters()).isEqualTo(2);
    }

    @Test
    void otherNamesAreOtherLocks() {
        bench.send(bench.writer("a"));
        assertThat(bench.send(bench.claim("b", "X", Bench.terms(Mode.EXCLUSIVE))))
                .isInstanceOf(Answer.Granted.class);
    }

    @Test
    void readersShareAndWritersDoNot() {
        Grant first = bench.grant(bench.reader("a"));
        Grant second = bench.grant(bench.reader("b"));
        assertThat(second.token()).isNotEqualTo(first.token());
        assertThat(bench.send(bench.writer("c"))).isInstanceOf(Answer.Queued.class);
        assertThat(bench.send(bench.reader("d")))
                .as("a queued writer is not overtaken")
                .isInstanceOf(Answer.Queued.class);
        Answer once = bench.send(bench.claim("e", "x", Bench.once(Bench.terms(Mode.SHARED))));
        assertThat(why(once)).as("nor by one attempt").isEqualTo(Answer.Why.BUSY);
    }

    @Test
    void permitsAddUpToTheLimitAndALargeClaimIsNotOvertaken() {
        Grant two = bench.grant(bench.claim("a", "x", Bench.permits(2, 3)));
        Claim large = bench.claim("b", "x", Bench.permits(2, 3));
        assertThat(bench.send(large)).isInstanceOf(Answer.Queued.class);
        Claim small = bench.claim("c", "x", Bench.permits(1, 3));
        assertThat(bench.send(small)).isInstanceOf(Answer.Queued.class);
        bench.release(two);
        assertThat(bench.told(large).token()).isNotEqualTo(bench.told(small).token());
        assertThat(bench.inspect().orElseThrow().holders()).hasSize(2);
    }

    @Test
    void anotherKindOrLimitIsAConflictAsLongAsTheNameIsInUse() {
        Grant lock = bench.grant(bench.writer("a"));
        Answer semaphore = bench.send(bench.claim("b", "x", Bench.permits(1, 2)));
        assertThat(why(semaphore)).isEqualTo(Answer.Why.CONFLICT);
        assertThat(((Answer.Refused) semaphore).detail()).isEqualTo("a lock");
        bench.release(lock);
        bench.grant(bench.claim("b", "x", Bench.permits(1, 2)));
        Answer other = bench.send(bench.claim("c", "x", Bench.permits(1, 3)));
        assertThat(why(other)).isEqualTo(Answer.Why.CONFLICT);
        assertThat(((Answer.Refused) other).detail()).isEqualTo("a semaphore of 2");
        assertThat(why(bench.send(bench.writer("d")))).isEqualTo(Answer.Why.CONFLICT);
    }

    @Test
    void tokensRiseByWholeBlocksAcrossAllNames() {
        Grant x = bench.grant(bench.writer("a"));
        Grant y = bench.grant(bench.claim("a", "y", Bench.terms(Mode.EXCLUSIVE)));
        bench.release(x);
        Grant again = bench.grant(bench.writer("b"));
        assertThat(List.of(y.token(), again.token()))
                .containsExactly(x.token() + Bench.BLOCK, x.token() + 2 * Bench.BLOCK);
    }

    @Test
    void aRepeatedClaimGivesTheSameGrantWithWhatRemains() {
        Claim claim = bench.writer("a");
        Answer.Granted first = (Answer.Granted) bench.send(claim);
        bench.pass(4_000);
        Answer.Granted again = (Answer.Granted) bench.send(claim.asStray());
        assertThat(again.token()).isEqualTo(first.token());
        assertThat(again.remaining()).isEqualTo(Bench.LEASE.minusSeconds(4));
        assertThat(bench.inspect().orElseThrow().holders()).hasSize(1);
    }

    @Test
    void aRepeatedClaimKeepsItsPlaceInTheQueue() {
        bench.send(bench.writer("a"));
        Claim first = bench.writer("b");
        bench.send(first);
        bench.send(bench.writer("c"));
        assertThat(((Answer.Queued) bench.send(first.asStray())).ahead()).isZero();
        assertThat(bench.inspect().orElseThrow().waiters()).isEqualTo(2);
    }

    @Test
    void aClaimThatComesAfterItsDeadlineIsRefusedAndLeavesNothing() {
        Claim late = bench.writer("a");
        bench.pass(2_001);
        assertThat(why(bench.send(late))).isEqualTo(Answer.Why.LATE);
        assertThat(bench.model.size()).isZero();
    }

    @Test
    void aClaimOfAnotherIncarnationIsLate() {
        Claim c = bench.writer("a");
        Claim other =
                new Claim(c.name(), c.id(), c.terms(), new StoreTime(Bench.INCARNATION + 1, Long.MAX_VALUE / 2), false);
        assertThat(why(bench.send(other))).isEqualTo(Answer.Why.LATE);
    }

    @Test
    void aStrayIdIsRefusedAfterItsEndUntilItWouldBeLateAnyway() {
        Claim stray = bench.writer("a").asStray();
        Grant grant = bench.grant(stray);
        assertThat(bench.release(grant)).isTrue();
        assertThat(why(bench.send(stray))).isEqualTo(Answer.Why.GONE);
        bench.pass(2_000);
        assertThat(why(bench.send(stray))).as("at the deadline itself").isEqualTo(Answer.Why.GONE);
        bench.pass(1);
        assertThat(why(bench.send(stray))).isEqualTo(Answer.Why.LATE);
        assertThat(bench.model.size()).as("and is forgotten").isZero();
    }

    @Test
    void anOrdinaryCycleLeavesNothingToRemember() {
        bench.release(bench.grant(bench.writer("a")));
        assertThat(bench.model.size()).isZero();
    }

    @Test
    void aClaimThatIsWithdrawnOnItsWayIsRefusedWhenItComes() {
        Claim onItsWay = bench.writer("a").asStray();
        bench.withdraw(onItsWay);
        assertThat(why(bench.send(onItsWay))).isEqualTo(Answer.Why.GONE);
        assertThat(bench.inspect()).isEmpty();
    }

    @Test
    void aWithdrawnClaimLeavesTheQueueAndLetsTheNextIn() {
        Grant reader = bench.grant(bench.reader("a"));
        Claim writer = bench.writer("b");
        bench.send(writer);
        Claim second = bench.reader("c");
        bench.send(second);
        bench.withdraw(writer);
        assertThat(bench.told(second).token()).isNotEqualTo(reader.token());
        bench.withdraw(writer);
        assertThat(bench.inspect().orElseThrow().holders()).hasSize(2);
    }

    @Test
    void aClaimGrantedBeforeItsWithdrawalIsGivenBack() {
        Grant first = bench.grant(bench.writer("a"));
        Claim second = bench.writer("b");
        bench.send(second);
        bench.release(first);
        bench.told(second);
        bench.withdraw(second.asStray());
        assertThat(bench.inspect()).isEmpty();
        assertThat(why(bench.send(second))).isEqualTo(Answer.Why.GONE);
    }

    @Test
    void aReleaseEndsItsOwnHoldOnlyAndIsHarmlessWhenRepeated() {
        Grant first = bench.grant(bench.writer("a"));
        assertThat(bench.release(first)).isTrue();
        Grant second = bench.grant(bench.writer("b"));
        assertThat(bench.release(first)).isFalse();
        assertThat(bench.check(second)).isTrue();
    }

    /** A repeated claim may have further copies on their way: its end by expiry must leave the id refused, too. */
    @Test
    void aClaimThatWasRepeatedIsRememberedHoweverItEnds() {
        Claim claim =
                bench.claim("a", "x", Bench.leased(Bench.terms(Mode.EXCLUSIVE), Duration.ofMillis(500), Duration.ZERO));
        bench.send(claim);
        bench.send(claim.asStray());
        bench.pass(600);
        assertThat(why(bench.send(claim.asStray())))
                .as("the third copy, after the hold has expired")
                .isEqualTo(Answer.Why.GONE);
        assertThat(bench.inspect()).isEmpty();
    }
}
