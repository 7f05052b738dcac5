// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lockkeeper.DistributedLock;
import io.lockkeeper.Fence;
import io.lockkeeper.Lease;
import io.lockkeeper.LeaseLost;
import io.lockkeeper.LockOptions;
import io.lockkeeper.StaleTokenException;
import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.spi.Answer;
import io.lockkeeper.spi.Renewals;
import io.lockkeeper.tck.support.Contract;
import io.lockkeeper.testkit.FaultyStore;
import io.lockkeeper.testkit.Gate;
import io.lockkeeper.testkit.LateStep;
import io.lockkeeper.testkit.StepKind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Members of a quorum that hang, are cut off, or are told too late. */
class QuorumMessagesTest extends QuorumFaults {
    @Test
    void aMemberThatHangsDelaysNobodyForever() throws Exception {
        rig(3);
        QuorumRig.Client a = rig.client();
        assertThat(isTaken(a)).isFalse();
        Gate hangs = a.to(1).pauseBefore(StepKind.CLAIM);
        Lease held = take(a);
        assertThat(hangs.awaitArrival(Contract.LONG)).isTrue();
        assertThat(held.isValid()).isTrue();
        assertThat(release(held)).isTrue();
        hangs.open();
        awaitEmpty();
    }

    @Test
    void aClaimThatSeemedToFailIsReleasedAsWell() throws Exception {
        rig(3);
        QuorumRig.Client a = rig.client();
        assertThat(isTaken(a)).isFalse();
        for (int i = 0; i < 2; i++) {
            a.to(i).loseReply(StepKind.CLAIM);
        }
        Lease held = take(a); // at the second try
        assertThat(release(held)).isTrue();
        awaitEmpty();
    }

    @Test
    void aClaimThatIsStillOnItsWayWhenItIsGivenUpFindsNothing() throws Exception {
        rig(3);
        QuorumRig.Client a = rig.client();
        assertThat(isTaken(a)).isFalse();
        List<LateStep> late = new ArrayList<>();
        for (FaultyStore connection : a.connections()) {
            late.add(connection.sendLate(StepKind.CLAIM));
        }
        Lease held = take(a);
        assertThat(release(held)).isTrue();
        for (LateStep step : late) {
            assertThat(step.deliver()).isInstanceOf(Answer.Refused.class);
        }
        awaitEmpty();
    }

    @Test
    void aMemberThatWasUnreachableLearnsWhatItMissed() throws Exception {
        rig(3);
        QuorumRig.Client a = rig.client();
        Lease held = a.keeper()
                .lock("a", LockOptions.defaults().fixedLease(Duration.ofSeconds(50)))
                .acquire();
        a.cutOff(2);
        assertThat(release(held)).isTrue();
        assertThat(rig.servers.get(2).isHeld("a")).isTrue();
        a.to(2).up();
        Contract.await("it is notified", () -> {
            a.keeper().inspector().inspect("b");
            return !rig.servers.get(2).isHeld("a");
        });
    }

    @Test
    void anUnreachableMinorityMakesNoDifference() throws Exception {
        QuorumRig.Client a = rig.client();
        assertThat(isTaken(a)).isFalse();
        a.cutOff(1, 3);
        Lease held = a.keeper().lock("a", KEPT).acquire();
        assertThat(isTaken(rig.client())).isTrue();
        for (int i = 0; i < 20; i++) {
            rig.time.jump(Duration.ofMillis(500));
            int renewals = a.to(0).count(StepKind.RENEW);
            Contract.await(
                    "renewed",
                    () -> held.remaining().toMillis() > 3_000
                            || renewals < a.to(0).count(StepKind.RENEW));
            assertThat(held.isValid()).isTrue();
        }
        assertThat(release(held)).isTrue();
    }

    @Test
    void manyHoldsAreRenewedInPortionsThatAMemberAnswersInTime() throws Exception {
        rig(3);
        QuorumRig.Client a = rig.client();
        List<Lease> all = new ArrayList<>();
        for (int i = 0; i < 1_100; i++) {
            all.add(a.keeper().lock("a" + i, KEPT).acquire());
        }
        ConcurrentLinkedQueue<Renewals> sent = new ConcurrentLinkedQueue<>();
        a.to(0).observe((kind, argument) -> {
            if (argument instanceof Renewals batch) {
                sent.add(batch);
            }
        });
        rig.time.jump(Duration.ofSeconds(9));
        Contract.await("all are renewed", () -> all.stream()
                .allMatch(lease -> lease.remaining().toSeconds() > 20));
        assertThat(sent).hasSizeGreaterThan(2).allMatch(batch -> batch.holds().size() <= 500);
    }

    @Test
    void anUnreachableMajorityIsAnErrorAndTheHolderIsNotified() throws Exception {
        QuorumRig.Client a = rig.client();
        ConcurrentLinkedQueue<LeaseLost> losses = new ConcurrentLinkedQueue<>();
        Lease held = a.keeper().lock("a", KEPT).acquire().onLost(losses::add);
        a.cutOff(0, 1, 2);
        CompletableFuture<Lease> fails = a.keeper().lock("b", FIXED).acquireAsync();
        Contract.await("an error, and the loss", () -> {
            rig.time.jump(Duration.ofMillis(100));
            return fails.isCompletedExceptionally() && !losses.isEmpty();
        });
        assertThatThrownBy(() -> get(fails)).hasCauseInstanceOf(StoreUnavailableException.class);
        assertThat(held.isValid()).isFalse();
        assertThat(losses).hasSize(1);
    }

    @Test
    @DisplayName("K15: a hold that is renewed through one partition after the other ends with its longest hold")
    void renewalThroughPartitionsEndsWithTheLongestHold() throws Exception {
        rig(3);
        QuorumRig.Client a = rig.client();
        ConcurrentLinkedQueue<LeaseLost> losses = new ConcurrentLinkedQueue<>();
        Lease held = a.keeper()
                .lock("a", KEPT.maxHold(Duration.ofSeconds(60)))
                .acquire()
                .onLost(losses::add);
        long began = rig.time.nanos();
        for (int i = 0; held.isValid(); i++) {
            FaultyStore away = a.to(i % 3);
            away.down();
            rig.time.jump(Duration.ofSeconds(1));
            Contract.await(
                    "it is renewed",
                    () -> { // at the second try, if two partitions met at the first
                        long remaining = held.remaining().toSeconds();
                        long left = 60 - (rig.time.nanos() - began) / 1_000_000_000; // bounds what remains
                        rig.time.jump(Duration.ofMillis(remaining > 4 ? 5 : 0));
                        return remaining >= Math.min(12, left - 4);
                    });
            away.up();
        }
        assertThat((rig.time.nanos() - began) / 1_000_000_000).isBetween(50L, 60L);
        Contract.await("it is notified", () -> !losses.isEmpty());
        assertThat(losses.element().reason()).isEqualTo(LeaseLost.Reason.MAX_HOLD);
    }

    @Test
    @DisplayName("K11: a token may write again and again until a greater one has entered")
    void aTokenMayWriteUntilAGreaterOneHasEntered() throws Exception {
        Fence.InMemory fence = Fence.inMemory();
        DistributedLock lock = rig.client().keeper().lock("a", FIXED);
        Lease first = lock.acquire();
        assertThat(fence.write(first, () -> 1)).isEqualTo(1);
        assertThat(fence.write(first, () -> 2)).isEqualTo(2);
        assertThat(release(first)).isTrue();
        Lease second = lock.acquire();
        assertThat(fence.write(second, () -> 3)).isEqualTo(3);
        assertThatThrownBy(() -> fence.write(first, () -> 4)).isInstanceOf(StaleTokenException.class);
        assertThat(fence.write(second, () -> 5)).isEqualTo(5);
    }
}
