// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lockkeeper.Fence;
import io.lockkeeper.Lease;
import io.lockkeeper.StaleTokenException;
import io.lockkeeper.quorum.QuorumOptions;
import java.time.Duration;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** What the clocks of members do to a quorum. */
class QuorumClocksTest extends QuorumFaults {
    @Test
    @DisplayName("K5: a clock that jumps far ahead is ignored, so that nobody acquires because of it")
    void aClockThatJumpsFarAheadIsIgnored() throws Exception {
        QuorumRig.Client a = rig.client();
        QuorumRig.Client b = rig.client();
        assertThat(isTaken(b)).isFalse();
        a.cutOff(3, 4);
        Lease held = take(a); // of members 0, 1 and 2
        rig.servers.get(2).jump(Duration.ofSeconds(60)); // there, the lease has ended
        assertThat(triesInVain(b))
                .as("0 and 1 are taken, 3 and 4 are free, 2 does not count")
                .isTrue();
        assertThat(held.isValid()).isTrue();
        assertThat(release(held)).as("only two members of five still had it").isFalse();
    }

    @Test
    @DisplayName(
            "K5: a clock that jumps by less than is allowed may admit two holders; the fence rejects the older one")
    void aClockThatJumpsALittleMayLetTwoInAndTheFenceRefusesTheOlder() throws Exception {
        Fence.InMemory fence = Fence.inMemory();
        QuorumOptions lax = new QuorumOptions(
                QuorumRig.OPTIONS.memberTimeout(), QuorumRig.OPTIONS.longestLease(), Duration.ofSeconds(50));
        QuorumRig.Client a = rig.client(lax);
        QuorumRig.Client b = rig.client(lax);
        assertThat(isTaken(b)).isFalse();
        a.cutOff(3, 4);
        Lease first = take(a);
        fence.enter(first);
        rig.servers.get(2).jump(LEASE.plusSeconds(1)); // more than the lease, less than the allowed lead
        Lease second = take(b);
        assertThat(first.isValid()).as("this is what a quorum cannot promise").isTrue();
        assertThat(second.token()).isGreaterThan(first.token());
        fence.enter(second);
        assertThatThrownBy(() -> fence.write(first, () -> "older")).isInstanceOf(StaleTokenException.class);
        assertThat(fence.write(second, () -> "newer")).isEqualTo("newer");
    }

    @Test
    @DisplayName("K6: clocks that are set back keep a dead holder's lock; it can be broken")
    void clocksThatAreSetBackKeepADeadHoldersLock() throws Exception {
        Lease dead = take(rig.client());
        QuorumRig.Client b = rig.client();
        for (int member : new int[] {0, 1, 2}) {
            rig.servers.get(member).jump(Duration.ofHours(-1));
        }
        rig.time.jump(LEASE.multipliedBy(4));
        assertThat(dead.isValid()).isFalse();
        assertThat(isTaken(b)).isTrue();
        assertThat(b.keeper().inspector().breakHoldNow("a", dead.token(), Duration.ZERO))
                .isTrue();
        Lease next = take(b);
        assertThat(next.token()).isGreaterThan(dead.token());
    }

    @Test
    @DisplayName("K13: a member whose clock runs a percent fast admits nobody while a holder believes it still holds")
    void aFastClockAdmitsNobodyTooSoon() throws Exception {
        rig(3);
        rig.servers.forEach(server -> server.runAt(1.01));
        QuorumRig.Client b = rig.client();
        Lease held = take(rig.client());
        int looks = 0;
        for (; held.isValid(); looks++) {
            boolean taken = isTaken(b);
            assertThat(taken || !held.isValid()).isTrue();
            rig.time.jump(Duration.ofMillis(100));
        }
        assertThat(looks).isGreaterThan(50);
    }
}
