// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lockkeeper.DistributedReadWriteLock;
import io.lockkeeper.Fence;
import io.lockkeeper.Lease;
import io.lockkeeper.Mode;
import io.lockkeeper.StaleTokenException;
import io.lockkeeper.tck.support.Contract;
import java.time.Duration;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Members of a quorum that forget. */
class QuorumMemoryTest extends QuorumFaults {
    @Test
    @DisplayName("K7: a member that has lost its memory is not counted until the longest lease has passed")
    void aMemberThatHasLostItsMemorySitsOut() throws Exception {
        QuorumRig.Client a = rig.client();
        QuorumRig.Client b = rig.client();
        assertThat(isTaken(b)).isFalse();
        a.cutOff(3, 4);
        Lease held = take(a);
        rig.servers.get(2).loseMemory();
        assertThat(triesInVain(b))
                .as("2, 3 and 4 are free, but 2 does not count")
                .isTrue();
        assertThat(held.isValid()).isTrue();
        assertThat(release(held)).as("only two members of five still had it").isFalse();
        assertThat(isTaken(b)).as("four members are enough").isFalse();
        b.cutOff(0, 1);
        assertThat(triesInVain(b)).isTrue();
        awaitProvisionalMarker(2);
        rig.time.jump(QuorumRig.OPTIONS.longestLease());
        assertThat(triesInVain(b)).isTrue();
        rig.time.jump(QuorumRig.OPTIONS.clockLead().plusMillis(1));
        assertThat(triesInVain(b)).as("it has sat it out, and counts again").isFalse();
        assertThat(isTaken(rig.client())).as("and does so for all").isFalse();
    }

    @Test
    @DisplayName("K8: sitting out goes by the client's clock, wherever the member's jumps to")
    void sittingOutGoesByTheClientsClock() throws Exception {
        rig(3);
        QuorumRig.Client b = rig.client();
        assertThat(isTaken(b)).isFalse();
        rig.servers.get(2).loseMemory();
        b.cutOff(0);
        assertThat(triesInVain(b)).isTrue();
        awaitProvisionalMarker(2);
        rig.servers.get(2).jump(Duration.ofSeconds(9));
        rig.time.jump(QuorumRig.OPTIONS.longestLease());
        assertThat(triesInVain(b)).as("by its own clock it has sat it out").isTrue();
        rig.time.jump(QuorumRig.OPTIONS.clockLead());
        assertThat(triesInVain(b)).isFalse();
    }

    @Test
    void aMemberThatForgetsAgainSitsOutAgain() throws Exception {
        rig(3);
        QuorumRig.Client b = rig.client();
        assertThat(isTaken(b)).isFalse();
        b.cutOff(0);
        for (int i = 0; i < 2; i++) {
            rig.servers.get(2).loseMemory();
            assertThat(triesInVain(b)).isTrue();
            awaitProvisionalMarker(2);
            rig.time.jump(Duration.ofSeconds(50));
        }
        assertThat(triesInVain(b)).as("fifty seconds after the second loss").isTrue();
        rig.time.jump(Duration.ofSeconds(21));
        assertThat(triesInVain(b)).isFalse();
    }

    @Test
    @DisplayName("K7: what clients have seen that live for a moment outlives them")
    void clientsThatLiveForAMomentSitOutTogether() throws Exception {
        assertThat(isTaken(rig.client())).isFalse();
        for (int member : new int[] {0, 1, 2}) {
            rig.servers.get(member).loseMemory();
        }
        Duration together = QuorumRig.OPTIONS.longestLease().plus(QuorumRig.OPTIONS.clockLead());
        long forgot = rig.time.nanos();
        while (triesInVain(rig.client())) {
            rig.time.jump(Duration.ofSeconds(5));
            assertThat(Duration.ofNanos(rig.time.nanos() - forgot)).isLessThan(together.multipliedBy(2));
        }
        assertThat(Duration.ofNanos(rig.time.nanos() - forgot)).isGreaterThan(together);
        assertThat(isTaken(rig.client())).as("for all").isFalse();
    }

    @Test
    @DisplayName("K8: neither the member's own clock nor another loss shortens what they sit out")
    void neitherAClockNorAnotherLossShortensWhatTheySitOut() throws Exception {
        rig(3);
        assertThat(isTaken(rig.client())).isFalse();
        QuorumRig.Server forgets = rig.servers.get(2);
        forgets.loseMemory();
        assertThat(triesOnceWithout(0)).isFalse();
        rig.time.jump(Duration.ofSeconds(50));
        forgets.loseMemory();
        long forgot = rig.time.nanos();
        assertThat(triesOnceWithout(0)).isFalse();
        forgets.jump(Duration.ofHours(1)); // restarted with a wrong clock
        assertThat(triesOnceWithout(0)).isFalse();
        rig.time.jump(Duration.ofSeconds(40));
        assertThat(triesOnceWithout(0)).as("90 s after the first loss").isFalse();
        forgets.jump(Duration.ofHours(-1));
        assertThat(triesOnceWithout(0)).isFalse();
        assertThat(forgets.isCounted()).isFalse();
        // Its marker becomes final, but its grants are still ignored: the time of a memory store does not go back, so
        // its
        // clock leads until the others have caught up. (Where time goes back, the tokens that were granted meanwhile
        // lead
        // for as long.) By this clock, leases would end too soon. That is intended, and ends by itself.
        while (!forgets.isCounted()) {
            rig.time.jump(Duration.ofSeconds(5));
            assertThat(triesOnceWithout(0)).isFalse();
            assertThat(Duration.ofNanos(rig.time.nanos() - forgot)).isLessThan(Duration.ofSeconds(110));
        }
        assertThat(Duration.ofNanos(rig.time.nanos() - forgot)).isGreaterThan(Duration.ofSeconds(70));
        assertThat(triesOnceWithout(0)).as("it is counted, and ignored").isFalse();
        assertThat(isTaken(rig.client())).as("the others are a majority").isFalse();
        rig.time.jump(Duration.ofHours(1));
        assertThat(triesOnceWithout(0)).as("the others have come up with it").isTrue();
    }

    @Test
    @DisplayName(
            "K8: clocks of a majority that are set ahead meanwhile may let two in; the fence rejects the older one")
    void clocksOfAMajorityThatAreSetAheadMeanwhileMayLetTwoIn() throws Exception {
        rig(3);
        QuorumRig.Client a = rig.client();
        assertThat(isTaken(a)).isFalse();
        a.cutOff(1);
        Lease first = take(a);
        Fence.InMemory fence = Fence.inMemory();
        fence.enter(first);
        rig.servers.get(2).loseMemory();
        assertThat(triesOnceWithout(0)).isFalse();
        rig.servers.get(1).jump(Duration.ofSeconds(90));
        rig.servers.get(2).jump(Duration.ofSeconds(90));
        QuorumRig.Client b = rig.client();
        b.cutOff(0);
        Lease second = take(b);
        assertThat(first.isValid()).as("this is what a quorum cannot promise").isTrue();
        assertThat(second.token()).isGreaterThan(first.token());
        fence.enter(second);
        assertThatThrownBy(() -> fence.write(first, () -> "older")).isInstanceOf(StaleTokenException.class);
    }

    /** A client that lives for a moment, and does not reach one member; whether it was granted. */
    private boolean triesOnceWithout(int member) throws Exception {
        QuorumRig.Client client = rig.client();
        client.cutOff(member);
        return !triesInVain(client);
    }

    private void awaitProvisionalMarker(int member) throws InterruptedException {
        Contract.await(
                "member " + member + " has a provisional marker",
                () -> rig.servers.get(member).size() > 0);
    }

    @Test
    void aHoldThatIsKeptAliveOutlivesTheRestartOfAllMembersOneAfterTheOther() throws Exception {
        rig(3);
        QuorumRig.Client a = rig.client();
        Lease held = a.keeper().lock("a", KEPT).acquire();
        for (QuorumRig.Server server : rig.servers) {
            server.loseMemory();
            Contract.await("it is claimed there again", () -> {
                letTimePass(200, held);
                return server.isHeld("a");
            });
            Contract.await("it has sat out", () -> {
                letTimePass(500, held);
                return server.isCounted();
            });
        }
        assertThat(held.isValid()).isTrue();
        assertThat(triesInVain(rig.client())).isTrue();
        assertThat(release(held)).isTrue();
    }

    @Test
    void aMemberThatForgotWhileItWasAwayLearnsTheTokensOfAHoldThatHeals() throws Exception {
        rig(3);
        QuorumRig.Client a = rig.client();
        Lease held = a.keeper().lock("a", KEPT).acquire();
        a.cutOff(2);
        rig.servers.get(2).loseMemory();
        long longAway = rig.time.nanos() + Duration.ofSeconds(60).toNanos();
        Contract.await("its lease there would be over", () -> {
            letTimePass(500, held);
            return rig.time.nanos() > longAway;
        });
        a.to(2).up();
        Contract.await("it is held there under its own token", () -> {
            letTimePass(200, held);
            return rig.servers.get(2).inspect("a").stream()
                    .flatMap(info -> info.holders().stream())
                    .anyMatch(hold -> hold.token() == held.token());
        });
        assertThat(release(held)).isTrue();
    }

    @Test
    void aDowngradedHoldIsHealedAsAReaders() throws Exception {
        rig(3);
        QuorumRig.Client a = rig.client();
        DistributedReadWriteLock lock = a.keeper().readWriteLock("a", KEPT);
        lock.writeLock().lock();
        lock.readLock().lock();
        lock.writeLock().unlock();
        Lease read = lock.readLock().lease();
        rig.servers.get(2).loseMemory();
        Contract.await("it is claimed there again", () -> {
            letTimePass(200, read);
            return rig.servers.get(2).isHeld("a");
        });
        assertThat(rig.servers.get(2).inspect("a").orElseThrow().mode()).isEqualTo(Mode.SHARED);
        lock.readLock().unlock();
    }
}
