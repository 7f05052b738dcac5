// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.DistributedReadWriteLock;
import io.lockkeeper.Lease;
import io.lockkeeper.Mode;
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
                rig.time.jump(Duration.ofMillis(held.remaining().toSeconds() > 10 ? 200 : 0));
                return server.isHeld("a");
            });
            Contract.await("it has sat out", () -> {
                rig.time.jump(Duration.ofMillis(held.remaining().toSeconds() > 10 ? 500 : 0));
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
            rig.time.jump(Duration.ofMillis(held.remaining().toSeconds() > 10 ? 500 : 0));
            return rig.time.nanos() > longAway;
        });
        a.to(2).up();
        Contract.await("it is held there under its own token", () -> {
            rig.time.jump(Duration.ofMillis(held.remaining().toSeconds() > 10 ? 200 : 0));
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
            rig.time.jump(Duration.ofMillis(read.remaining().toSeconds() > 10 ? 200 : 0));
            return rig.servers.get(2).isHeld("a");
        });
        assertThat(rig.servers.get(2).inspect("a").orElseThrow().mode()).isEqualTo(Mode.SHARED);
        lock.readLock().unlock();
    }
}
