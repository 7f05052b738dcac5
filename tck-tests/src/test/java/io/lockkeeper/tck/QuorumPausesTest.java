// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lockkeeper.Fence;
import io.lockkeeper.Inspector;
import io.lockkeeper.Lease;
import io.lockkeeper.LeaseLost;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Mode;
import io.lockkeeper.StaleTokenException;
import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.spi.Answer;
import io.lockkeeper.spi.Claim;
import io.lockkeeper.spi.Terms;
import io.lockkeeper.tck.support.Contract;
import io.lockkeeper.tck.support.SpiClient;
import io.lockkeeper.testkit.Gate;
import io.lockkeeper.testkit.StepKind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** What pauses of the holder do to a quorum. */
class QuorumPausesTest extends QuorumFaults {
    @Test
    @DisplayName("K1: a holder that was paused for longer than its lease is notified, and its write is rejected")
    void aHolderThatWasPausedIsNotifiedAndItsWriteRejected() throws Exception {
        Fence.InMemory fence = Fence.inMemory();
        QuorumRig.Client a = rig.client();
        Lease paused = a.keeper().lock("a", LockOptions.defaults().lease(LEASE)).acquire();
        CompletableFuture<LeaseLost> told = new CompletableFuture<>();
        paused.onLost(told::complete);
        fence.enter(paused);
        rig.time.jump(LEASE.multipliedBy(3));
        Lease next = take(rig.client());
        fence.enter(next); // before its first read
        assertThat(paused.isValid()).isFalse();
        assertThat(get(told).token()).isEqualTo(paused.token());
        assertThatThrownBy(() -> fence.write(paused, () -> "late")).isInstanceOf(StaleTokenException.class);
        assertThat(next.token()).isGreaterThan(paused.token());
        assertThat(release(paused)).isFalse();
        assertThat(next.isValid()).isTrue();
    }

    @Test
    @DisplayName("K2, K3: a write that was checked in time and arrives too late is rejected by the fence alone")
    void aWriteThatWasCheckedInTimeAndArrivesTooLateIsRejected() throws Exception {
        Fence.InMemory fence = Fence.inMemory();
        List<String> written = new ArrayList<>();
        Lease late = take(rig.client());
        fence.enter(late);
        late.ensureValid();
        rig.time.jump(LEASE.multipliedBy(2)); // between the check and the write, or on the network
        Lease next = take(rig.client());
        fence.enter(next);
        assertThatThrownBy(() -> fence.write(late, () -> written.add("late"))).isInstanceOf(StaleTokenException.class);
        assertThat(fence.write(next, () -> written.add("next"))).isTrue();
        assertThat(written).containsExactly("next");
    }

    @Test
    @DisplayName("K4: a grant whose answers come after the lease is no grant, and is released everywhere")
    void aGrantWhoseAnswersComeAfterTheLeaseIsGivenBack() throws Exception {
        QuorumRig.Client a = rig.client();
        QuorumRig.Client b = rig.client();
        assertThat(isTaken(b)).isFalse(); // the quorum has begun
        List<Gate> gates = pauseAfter(StepKind.CLAIM, a);
        CompletableFuture<Optional<Lease>> attempt =
                async(() -> a.keeper().lock("a", FIXED).tryAcquire());
        awaitArrival(gates);
        rig.time.jump(LEASE.multipliedBy(2));
        gates.forEach(Gate::open);
        assertThat(isHeld(attempt)).isFalse();
        awaitEmpty();
        assertThat(isTaken(b)).isFalse();
    }

    @Test
    @DisplayName(
            "a hold that is broken when members have its tokens, and its client does not know yet, is not reported")
    void aHoldThatIsBrokenBeforeItIsReportedIsNotReported() throws Exception {
        QuorumRig.Client a = rig.client();
        QuorumRig.Client b = rig.client();
        assertThat(isTaken(a)).isFalse(); // the quorum has begun, and a listens
        List<Gate> gates = pauseAfter(StepKind.RENEW, a);
        CompletableFuture<Optional<Lease>> attempt =
                async(() -> a.keeper().lock("a", FIXED).tryAcquire());
        awaitArrival(gates);
        Inspector inspector = b.keeper().inspector();
        long token = meanwhile(() -> inspector.inspect("a"))
                .orElseThrow()
                .holders()
                .get(0)
                .token();
        assertThat(meanwhile(() -> inspector.breakHoldNow("a", token, Duration.ZERO)))
                .isTrue();
        gates.forEach(Gate::open);
        assertThat(meanwhile(() -> get(attempt))).isEmpty();
        assertThat(isTaken(b)).isFalse();
    }

    @Test
    @DisplayName("a repeated claim returns what remains when it is answered, though members take their time")
    void aRepeatedClaimReturnsWhatRemains() throws Exception {
        QuorumRig.Client a = rig.client();
        assertThat(isTaken(a)).isFalse(); // the quorum has begun
        try (SpiClient client = new SpiClient(a.store())) {
            Terms terms = new Terms(Mode.EXCLUSIVE, 1, 0, LEASE, Duration.ZERO, Duration.ZERO, 1, false, "", "");
            Claim claim = client.newClaim("a", terms);
            Answer.Granted first = SpiClient.granted(meanwhile(() -> a.store().claim(claim)));
            List<Gate> gates = pauseAfter(StepKind.RENEW, a);
            CompletableFuture<Answer> repeated = async(() -> a.store().claim(claim.asStray()));
            awaitArrival(gates);
            rig.time.jump(Duration.ofSeconds(1));
            gates.forEach(Gate::open);
            Answer.Granted again = SpiClient.granted(meanwhile(() -> get(repeated)));
            assertThat(again.token()).isEqualTo(first.token());
            long passed = again.at().micros() - first.at().micros();
            assertThat(passed).isGreaterThanOrEqualTo(1_000_000);
            assertThat(again.remaining())
                    .isPositive()
                    .isLessThanOrEqualTo(
                            first.remaining().minusNanos(passed * 1_000).plusMillis(1));
        }
    }

    /** The next step of this kind is made at each member, and its answer held back. */
    private static List<Gate> pauseAfter(StepKind kind, QuorumRig.Client client) {
        return client.connections().stream()
                .map(connection -> connection.pauseAfter(kind))
                .toList();
    }

    private static void awaitArrival(List<Gate> gates) throws InterruptedException {
        for (Gate gate : gates) {
            assertThat(gate.awaitArrival(Contract.LONG)).isTrue();
        }
    }

    private static boolean isHeld(CompletableFuture<Optional<Lease>> attempt) throws Exception {
        try {
            return get(attempt).filter(Lease::isValid).isPresent();
        } catch (ExecutionException e) {
            assertThat(e).hasCauseInstanceOf(StoreUnavailableException.class);
            return false;
        }
    }
}
