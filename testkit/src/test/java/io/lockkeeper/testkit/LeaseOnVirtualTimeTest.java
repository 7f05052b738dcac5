// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.lockkeeper.KeeperListener;
import io.lockkeeper.Lease;
import io.lockkeeper.LeaseLost;
import io.lockkeeper.LeaseLost.Reason;
import io.lockkeeper.LeaseLostException;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Lockkeeper;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Validity, renewal and loss at exact times. (Rule 9, 10 and 15.) */
final class LeaseOnVirtualTimeTest {
    private static final Duration MILLI = Duration.ofMillis(1);
    private static final LockOptions OPTIONS = LockOptions.defaults();

    private final VirtualTime time = new VirtualTime();
    private final long start = time.nanos();
    private final FaultyStore store = FaultyStore.on(time.newStore());
    private final List<Long> renewals = new CopyOnWriteArrayList<>();
    private final BlockingQueue<LeaseLost> told = new LinkedBlockingQueue<>();
    private final BlockingQueue<Duration> atRisk = new LinkedBlockingQueue<>();
    private final Lockkeeper keeper = Lockkeeper.builder(store)
            .listener(new KeeperListener() {
                @Override
                public void lost(LeaseLost lost) {
                    told.add(lost);
                }

                @Override
                public void atRisk(String name, long token, Duration remaining) {
                    atRisk.add(remaining);
                }
            })
            .build();

    LeaseOnVirtualTimeTest() {
        store.observe((kind, argument) -> {
            if (kind == StepKind.RENEW) {
                renewals.add(time.nanos() - start);
            }
        });
    }

    @AfterEach
    void end() {
        keeper.close();
    }

    private Lease acquire(LockOptions options) throws InterruptedException {
        return keeper.lock("x", options).acquire();
    }

    private LeaseLost nextLoss() throws InterruptedException {
        LeaseLost loss = told.poll(Waiting.LONG.toSeconds(), TimeUnit.SECONDS);
        assertThat(loss).as("a loss is reported").isNotNull();
        return loss;
    }

    private void awaitRenewals(int count) throws InterruptedException {
        Waiting.await(count + " renewals", () -> renewals.size() >= count);
    }

    /** The lease less a hundredth and 2 ms, and less the notice. */
    private static Duration validFor(Duration lease, Duration notice) {
        return lease.minus(lease.dividedBy(100)).minusMillis(2).minus(notice);
    }

    @Test
    void validityEndsBeforeTheLeaseByTheMarginAndATenthOfIt() throws Exception {
        Lease lease = acquire(OPTIONS.fixedLease(Duration.ofSeconds(10)));
        assertThat(lease.remaining()).isEqualTo(validFor(Duration.ofSeconds(10), Duration.ofSeconds(1)));
        time.jump(lease.remaining().minusNanos(1));
        assertThat(lease.isValid()).isTrue();
        lease.ensureValid();
        time.jump(Duration.ofNanos(1));
        assertThat(lease.isValid()).isFalse();
        assertThat(lease.remaining()).isZero();
    }

    @Test
    void theNoticeIsNoLongerThanTwoSeconds() throws Exception {
        Lease lease = acquire(OPTIONS.fixedLease(Duration.ofMinutes(1)));
        assertThat(lease.remaining()).isEqualTo(validFor(Duration.ofMinutes(1), Duration.ofSeconds(2)));
    }

    @Test
    void lossIsReportedWithTheTimeThatIsLeftToStop() throws Exception {
        Lease lease = acquire(OPTIONS.fixedLease(Duration.ofMinutes(1)));
        time.jump(lease.remaining());
        LeaseLost loss = nextLoss();
        assertThat(loss).isEqualTo(new LeaseLost("x", lease.token(), Reason.EXPIRED, Duration.ofSeconds(2)));
        assertThat(keeper.inspector().inspect("x"))
                .as("the store lets nobody in yet")
                .hasValueSatisfying(info -> assertThat(info.holders()).hasSize(1));
        assertThat(lease.release()).isFalse();
        assertThat(told).as("reported once").isEmpty();
    }

    @Test
    void aKeptAliveLeaseIsRenewedAfterAThirdOfItsTime() throws Exception {
        Lease lease = acquire(OPTIONS.lease(Duration.ofSeconds(30)));
        time.jump(Duration.ofSeconds(10).minusNanos(1));
        Waiting.giveItAChance();
        assertThat(renewals).as("not before").isEmpty();
        time.jump(Duration.ofNanos(1));
        awaitRenewals(1);
        Waiting.await("the answer is in", () -> lease.remaining().compareTo(Duration.ofSeconds(27)) > 0);
        assertThat(renewals).containsExactly(Duration.ofSeconds(10).toNanos());
        for (int i = 2; i <= 10; i++) {
            time.jump(Duration.ofSeconds(10));
            awaitRenewals(i);
            Waiting.await("the answer is in", () -> lease.remaining().compareTo(Duration.ofSeconds(27)) > 0);
        }
        assertThat(lease.isValid()).as("after 100 s").isTrue();
        assertThat(told).isEmpty();
        assertThat(lease.release()).isTrue();
    }

    @Test
    void oneRequestRenewsAllHoldsThatAreDueOrSoonWillBe() throws Exception {
        for (int i = 0; i < 100; i++) {
            keeper.lock("lock " + i).acquire();
            time.jump(MILLI);
        }
        time.jump(Duration.ofSeconds(10));
        awaitRenewals(1);
        Waiting.giveItAChance();
        assertThat(renewals).hasSize(1);
    }

    @Test
    void aReleasedLeaseIsNotRenewed() throws Exception {
        acquire(OPTIONS).close();
        time.jump(Duration.ofSeconds(10));
        time.jump(Duration.ofSeconds(10));
        Waiting.giveItAChance();
        assertThat(renewals).isEmpty();
    }

    /** Hazards K1 and H56: a pause of the process. */
    @Test
    void aJumpBeyondTheLeaseReportsTheLossFirstAndNeverRenews() throws Exception {
        Lease lease = acquire(OPTIONS.lease(Duration.ofSeconds(30)));
        time.jump(Duration.ofSeconds(31));
        assertThat(lease.isValid()).isFalse();
        assertThat(nextLoss()).isEqualTo(new LeaseLost("x", lease.token(), Reason.EXPIRED, Duration.ZERO));
        assertThat(renewals).isEmpty();
        assertThatExceptionOfType(LeaseLostException.class).isThrownBy(lease::ensureValid);
        assertThatExceptionOfType(LeaseLostException.class).isThrownBy(lease::close);
        assertThat(acquire(OPTIONS).token()).isGreaterThan(lease.token());
    }

    @Test
    void aJumpIntoTheNoticePeriodReportsTheLossToo() throws Exception {
        Lease lease = acquire(OPTIONS.lease(Duration.ofSeconds(30)));
        time.jump(lease.remaining());
        assertThat(nextLoss().remaining()).isEqualTo(Duration.ofSeconds(2));
        assertThat(renewals)
                .as("although the store would still have renewed it")
                .isEmpty();
    }

    @Test
    void anUnreachableStoreLosesTheLeaseInTimeAndIsNamedAsTheReason() throws Exception {
        Lease lease = acquire(OPTIONS.lease(Duration.ofSeconds(30)));
        store.down();
        time.jump(Duration.ofSeconds(10));
        assertThat(atRisk.poll(Waiting.LONG.toSeconds(), TimeUnit.SECONDS))
                .isEqualTo(
                        validFor(Duration.ofSeconds(30), Duration.ofSeconds(2)).minusSeconds(10));
        for (int i = 0; i < 20; i++) {
            time.jump(Duration.ofMillis(500));
            Waiting.giveItAChance();
        }
        assertThat(lease.isValid()).isTrue();
        time.jump(lease.remaining());
        assertThat(nextLoss())
                .isEqualTo(new LeaseLost("x", lease.token(), Reason.STORE_UNREACHABLE, Duration.ofSeconds(2)));
        assertThat(lease.isValid()).isFalse();
        assertThat(renewals).as("tried again and again").hasSizeGreaterThan(2);
        assertThat(atRisk).as("reported once").isEmpty();
    }

    @Test
    void aRenewalThatIsAnsweredAfterTheEndRescuesNothing() throws Exception {
        Lease lease = acquire(OPTIONS.lease(Duration.ofSeconds(30)));
        Gate gate = store.pauseAfter(StepKind.RENEW);
        time.jump(Duration.ofSeconds(10));
        assertThat(gate.awaitArrival(Waiting.LONG)).isTrue();
        time.jump(Duration.ofSeconds(20));
        assertThat(lease.isValid()).isFalse();
        nextLoss();
        gate.open();
        Waiting.giveItAChance();
        assertThat(lease.isValid()).isFalse();
        assertThat(lease.release()).isFalse();
        assertThat(told).isEmpty();
    }

    @Test
    void validityCountsFromBeforeTheAnsweringRequestWasSent() throws Exception {
        Gate gate = store.pauseAfter(StepKind.CLAIM);
        java.util.concurrent.CompletableFuture<Lease> future =
                keeper.lock("x", OPTIONS.fixedLease(Duration.ofSeconds(10))).acquireAsync();
        assertThat(gate.awaitArrival(Waiting.LONG)).isTrue();
        time.jump(Duration.ofSeconds(4));
        gate.open();
        Lease lease = Waiting.get(future);
        assertThat(lease.remaining())
                .isEqualTo(
                        validFor(Duration.ofSeconds(10), Duration.ofSeconds(1)).minusSeconds(4));
    }

    @Test
    void aHoldEndsAtItsLongestTime() throws Exception {
        Lease lease = acquire(OPTIONS.lease(Duration.ofSeconds(30)).maxHold(Duration.ofSeconds(45)));
        time.jump(Duration.ofSeconds(10));
        Waiting.await("a renewal", () -> lease.remaining().compareTo(Duration.ofSeconds(27)) > 0);
        time.jump(Duration.ofSeconds(10));
        Waiting.await("another", () -> lease.remaining().compareTo(Duration.ofSeconds(20)) > 0);
        assertThat(lease.remaining())
                .as("up to the 45th second, less margin and notice")
                .isLessThan(Duration.ofSeconds(25));
        time.jump(lease.remaining());
        LeaseLost loss = nextLoss();
        assertThat(loss.reason()).isEqualTo(Reason.MAX_HOLD);
        assertThat(loss.remaining()).isPositive();
        assertThat(time.nanos() - start).isLessThan(45_000_000_000L);
    }

    @Test
    void aFixedLeaseIsRenewedOnlyByItsUser() throws Exception {
        Lease lease = acquire(OPTIONS.fixedLease(Duration.ofSeconds(10)));
        time.jump(Duration.ofSeconds(5));
        Waiting.giveItAChance();
        assertThat(renewals).isEmpty();
        assertThat(lease.renew(Duration.ofSeconds(20))).isTrue();
        assertThat(lease.remaining()).isEqualTo(validFor(Duration.ofSeconds(20), Duration.ofSeconds(2)));
        Duration before = lease.remaining();
        assertThat(lease.renew(Duration.ofMillis(100))).isTrue();
        assertThat(lease.remaining()).as("never nearer").isGreaterThanOrEqualTo(before);
        time.jump(Duration.ofSeconds(21));
        assertThat(lease.renew(Duration.ofSeconds(20))).isFalse();
        assertThat(nextLoss().reason()).isEqualTo(Reason.EXPIRED);
    }

    @Test
    void aRenewalOfTheUsersHasTheRangeOfAFixedLease() throws Exception {
        Lease fixed = acquire(OPTIONS.fixedLease(Duration.ofSeconds(10)));
        assertThatIllegalArgumentException().isThrownBy(() -> fixed.renew(Duration.ofMillis(99)));
        assertThatIllegalArgumentException().isThrownBy(() -> fixed.renew(Duration.ofHours(25)));
        assertThat(fixed.release()).isTrue();
        assertThat(fixed.renew(Duration.ofSeconds(10))).isFalse();
        Lease kept = acquire(OPTIONS);
        assertThatIllegalStateException().isThrownBy(() -> kept.renew(Duration.ofSeconds(10)));
    }
}
