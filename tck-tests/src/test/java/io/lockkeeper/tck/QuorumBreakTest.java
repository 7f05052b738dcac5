// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lockkeeper.Lease;
import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.tck.support.Contract;
import io.lockkeeper.testkit.StepKind;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Holds that are broken at a few members only, or at some sooner than at others. */
class QuorumBreakTest extends QuorumFaults {
    /** Found on a busy machine: each member had broken the hold, and the holder's renewals had put it back, one after the other. */
    @Test
    void aRequestThatReachesMembersOneAfterTheOtherIsNotUndoneByRenewals() throws Exception {
        QuorumRig.Client a = rig.client();
        Lease held = meanwhile(a.keeper().lock("a", KEPT)::acquire);
        for (int member = 0; member < 3; member++) {
            QuorumRig.Server server = rig.servers.get(member);
            assertThat(server.breakHold("a", held.token())).isTrue();
            int renewals = a.to(4).count(StepKind.RENEW);
            Contract.await("it was renewed where it could be", () -> {
                letTimePass(200, held);
                return a.to(4).count(StepKind.RENEW) >= renewals + 2 || !held.isValid();
            });
            assertThat(server.isHeld("a")).as("at member " + member).isFalse();
        }
        Contract.await("the holder knows", () -> {
            letTimePass(200, held);
            return !held.isValid();
        });
    }

    @Test
    void thatAHoldWasBrokenIsSaidOnlyIfAMajorityHasBrokenIt() throws Exception {
        QuorumRig.Client a = rig.client();
        QuorumRig.Client b = rig.client();
        assertThat(isTaken(a)).isFalse(); // the quorum has begun
        a.cutOff(3, 4);
        Lease held = take(a);
        b.cutOff(0);
        assertThatThrownBy(() -> meanwhile(() -> b.keeper().inspector().breakHoldNow("a", held.token(), Duration.ZERO)))
                .isInstanceOf(StoreUnavailableException.class)
                .hasMessageContaining("whether the hold of 'a' was broken");
        b.to(0).up();
        assertThat(meanwhile(() -> b.keeper().inspector().breakHoldNow("a", held.token() + 1, Duration.ZERO)))
                .isFalse();
        QuorumRig.Client c = rig.client();
        Lease other = meanwhile(() -> c.keeper().lock("b", FIXED).acquire());
        Contract.await("those that were not needed for a majority have it, too", () -> rig.servers.stream()
                .allMatch(server -> server.isHeld("b")));
        b.cutOff(0, 1);
        assertThat(meanwhile(() -> b.keeper().inspector().breakHoldNow("b", other.token(), Duration.ZERO)))
                .isTrue();
    }
}
