// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testkit.history;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

/** Rule 7. */
class CountingRuleTest {
    private final Scenario scenario = new Scenario();

    @Nested
    class ReadersAndWriters {
        @Test
        void readersShare() {
            scenario.shared("a", 0, 1, 1);
            scenario.shared("b", 0, 1, 2);
            assertThat(scenario.broken()).isEmpty();
        }

        @Test
        void writerWaitsForTheLastReader() {
            RecordedClaim first = scenario.shared("a", 0, 1, 1);
            RecordedClaim last = scenario.shared("b", 0, 2, 2);
            scenario.release(first, 10, 11, Outcome.OK);
            scenario.release(last, 20, 21, Outcome.OK);
            scenario.exclusive("w", 5, 20, 3);
            assertThat(scenario.broken()).isEmpty();
        }

        @Test
        void writerAmongReadersIsAccused() {
            RecordedClaim first = scenario.shared("a", 0, 1, 1);
            RecordedClaim last = scenario.shared("b", 0, 2, 2);
            scenario.release(first, 10, 11, Outcome.OK);
            scenario.release(last, 20, 21, Outcome.OK);
            scenario.exclusive("w", 5, 19, 3);
            assertThat(scenario.violations()).singleElement().satisfies(violation -> {
                assertThat(violation.rule()).isEqualTo(Rule.COUNTING);
                assertThat(violation.operations()).extracting(Operation::client).containsExactly("w", "b");
            });
        }

        @Test
        void readerBesideWriterIsAccused() {
            scenario.exclusive("w", 0, 1, 1);
            scenario.shared("a", 2, 3, 2);
            assertThat(scenario.broken()).containsExactly(Rule.COUNTING);
        }

        @Test
        void readerMayComeInWhileWriterDowngrades() {
            RecordedClaim shared = downgradeDuring(20, 30);
            shared.ok(2);
            scenario.shared("r", 5, 25, 3);
            assertThat(scenario.broken()).isEmpty();
        }

        @Test
        void writerMayNotComeInWhileAnotherDowngrades() {
            RecordedClaim shared = downgradeDuring(20, 30);
            shared.ok(2);
            RecordedClaim other = scenario.exclusive("w", 5, 22, 3);
            scenario.release(other, 24, 25, Outcome.OK);
            assertThat(scenario.broken()).contains(Rule.COUNTING);
        }

        @Test
        void whatWasDowngradedIsNoLongerThereToBeReleased() {
            RecordedClaim writer = scenario.exclusive("a", 0, 1, 1);
            RecordedClaim shared = writer.downgrade();
            shared.ok(2);
            scenario.release(shared, 10, 11, Outcome.OK);
            assertThat(scenario.broken()).isEmpty();
            scenario.release(writer, 12, 13, Outcome.OK);
            assertThat(scenario.violations()).anySatisfy(violation -> assertThat(violation.sentence())
                    .contains("all levels were released before"));
        }

        @Test
        void failedDowngradeLeavesTheWriterAlone() {
            RecordedClaim shared = downgradeDuring(20, 30);
            shared.fail();
            scenario.shared("r", 31, 32, 3);
            assertThat(scenario.broken()).containsExactly(Rule.COUNTING);
        }

        private RecordedClaim downgradeDuring(long invoked, long returned) {
            RecordedClaim writer = scenario.exclusive("a", 0, 1, 1);
            scenario.at(invoked);
            RecordedClaim shared = writer.downgrade();
            scenario.at(returned);
            return shared;
        }
    }

    @Nested
    class Semaphores {
        private RecordedClaim permits(String client, int permits, long at, long token) {
            RecordedClaim claim = scenario.at(at).history.client(client).acquirePermits("s", permits);
            claim.ok(token);
            return claim;
        }

        @Test
        void allPermitsMayBeOut() {
            scenario.history.declareSemaphore("s", 3);
            RecordedClaim two = permits("a", 2, 0, 1);
            permits("b", 1, 1, 2);
            scenario.release(two, 10, 20, Outcome.OK);
            permits("c", 2, 10, 3);
            assertThat(scenario.broken()).isEmpty();
        }

        @Test
        void onePermitTooManyIsAccused() {
            scenario.history.declareSemaphore("s", 3);
            RecordedClaim two = permits("a", 2, 0, 1);
            permits("b", 1, 1, 2);
            scenario.release(two, 10, 20, Outcome.OK);
            permits("c", 1, 9, 3);
            assertThat(scenario.violations()).singleElement().satisfies(violation -> {
                assertThat(violation.rule()).isEqualTo(Rule.COUNTING);
                assertThat(violation.operations()).hasSize(3);
                assertThat(violation.sentence()).endsWith("more than the 3 permits there are");
            });
        }

        @Test
        void morePermitsThanThereAreIsAccused() {
            scenario.history.declareSemaphore("s", 3);
            permits("a", 4, 0, 1);
            assertThat(scenario.broken()).containsExactly(Rule.COUNTING);
        }

        @Test
        void unknownClaimNeedsRoomAtSomeInstant() {
            scenario.history.declareSemaphore("s", 3);
            RecordedClaim unknown = scenario.at(0).history.client("u").acquirePermits("s", 2);
            scenario.release(unknown, 10, 20, Outcome.OK);
            RecordedClaim one = permits("a", 1, 1, 1);
            permits("b", 1, 15, 2);
            scenario.release(one, 15, 16, Outcome.OK);
            assertThat(scenario.broken()).isEmpty();
            permits("c", 2, 2, 3);
            assertThat(scenario.broken()).containsExactly(Rule.UNKNOWN_OUTCOME);
        }
    }

    @Nested
    class Reentrance {
        @Test
        void holdLastsUntilTheLastRelease() {
            RecordedClaim claim = reenteredAt(10);
            scenario.release(claim, 20, 21, Outcome.OK);
            scenario.release(claim, 30, 31, Outcome.OK);
            scenario.exclusive("b", 5, 30, 2);
            assertThat(scenario.broken()).isEmpty();
        }

        @Test
        void grantAfterAnInnerReleaseIsAccused() {
            RecordedClaim claim = reenteredAt(10);
            scenario.release(claim, 20, 21, Outcome.OK);
            scenario.release(claim, 30, 31, Outcome.OK);
            scenario.exclusive("b", 5, 29, 2);
            assertThat(scenario.broken()).containsExactly(Rule.EXCLUSION);
        }

        @Test
        void unknownReentryMayNotHaveHappened() {
            RecordedClaim claim = scenario.exclusive("a", 0, 1, 1);
            claim.reenter().info();
            scenario.release(claim, 20, 21, Outcome.OK);
            scenario.exclusive("b", 5, 22, 2);
            assertThat(scenario.broken()).isEmpty();
        }

        @Test
        void moreReleasesThanEntriesIsAccused() {
            RecordedClaim claim = reenteredAt(10);
            scenario.release(claim, 20, 21, Outcome.OK);
            scenario.release(claim, 22, 23, Outcome.OK);
            assertThat(scenario.broken()).isEmpty();
            scenario.release(claim, 24, 25, Outcome.OK);
            assertThat(scenario.broken()).containsExactly(Rule.COUNTING);
        }

        @Test
        void reentryAfterTheEndIsAccused() {
            RecordedClaim claim = scenario.exclusive("a", 0, 1, 1);
            scenario.release(claim, 20, 21, Outcome.OK);
            scenario.at(22);
            claim.reenter().ok(1);
            assertThat(scenario.broken()).containsExactly(Rule.COUNTING);
        }

        @Test
        void depthMayReachItsLimit() {
            scenario.history.declareDepthLimit(Scenario.LOCK, 2);
            RecordedClaim claim = reenteredAt(10);
            claim.reenter().fail();
            assertThat(scenario.broken()).isEmpty();
            claim.reenter().ok(1);
            assertThat(scenario.broken()).containsExactly(Rule.COUNTING);
        }

        private RecordedClaim reenteredAt(long time) {
            RecordedClaim claim = scenario.exclusive("a", 0, 1, 1);
            scenario.at(time);
            claim.reenter().ok(1);
            return claim;
        }
    }

    @Nested
    class Latches {
        @Test
        void awaitMayReturnAsTheLastCountDownIsInvoked() {
            scenario.history.declareLatch("l", 2);
            RecordedStep await = scenario.at(0).history.client("w").await("l");
            scenario.at(10).history.client("a").countDown("l").ok();
            RecordedStep last = scenario.at(20).history.client("b").countDown("l");
            await.ok();
            scenario.at(30);
            last.info();
            assertThat(scenario.broken()).isEmpty();
        }

        @Test
        void awaitThatReturnsEarlierIsAccused() {
            scenario.history.declareLatch("l", 2);
            RecordedStep await = scenario.at(0).history.client("w").await("l");
            scenario.at(10).history.client("a").countDown("l").ok();
            scenario.at(19);
            await.ok();
            scenario.at(20).history.client("b").countDown("l").ok();
            assertThat(scenario.broken()).containsExactly(Rule.COUNTING);
        }

        @Test
        void failedCountDownDoesNotCount() {
            scenario.history.declareLatch("l", 1);
            scenario.at(10).history.client("a").countDown("l").fail();
            scenario.at(20).history.client("w").await("l").ok();
            assertThat(scenario.broken()).containsExactly(Rule.COUNTING);
        }

        @Test
        void latchOfNothingIsOpen() {
            scenario.history.declareLatch("l", 0);
            scenario.at(20).history.client("w").await("l").ok();
            assertThat(scenario.broken()).isEmpty();
        }
    }
}
