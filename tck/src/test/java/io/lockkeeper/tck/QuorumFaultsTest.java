// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lockkeeper.DistributedLock;
import io.lockkeeper.DistributedReadWriteLock;
import io.lockkeeper.Fence;
import io.lockkeeper.Inspector;
import io.lockkeeper.Lease;
import io.lockkeeper.LeaseLost;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Mode;
import io.lockkeeper.StaleTokenException;
import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.quorum.QuorumOptions;
import io.lockkeeper.spi.Answer;
import io.lockkeeper.spi.Claim;
import io.lockkeeper.spi.LatchStep;
import io.lockkeeper.spi.Terms;
import io.lockkeeper.testkit.FaultyStore;
import io.lockkeeper.testkit.Gate;
import io.lockkeeper.testkit.LateStep;
import io.lockkeeper.testkit.StepKind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The Redlock debate as scenarios: what pauses, delays and clocks do to a quorum, on virtual time. */
@Timeout(value = 2, unit = TimeUnit.MINUTES)
class QuorumFaultsTest {
    private static final Duration LEASE = Duration.ofSeconds(20);
    private static final LockOptions FIXED = LockOptions.defaults().fixedLease(LEASE);

    /** Kept alive; time that jumps by less than a third of it does no harm. */
    private static final LockOptions KEPT = LockOptions.defaults().lease(Duration.ofSeconds(24));

    private QuorumRig rig = new QuorumRig(5);

    private QuorumRig rig(int members) {
        rig = new QuorumRig(members);
        return rig;
    }

    @AfterEach
    void end() throws Exception {
        rig.close();
    }

    /** Does something that may have to wait, while time passes. */
    private <T> T meanwhile(Callable<T> task) throws Exception {
        CompletableFuture<T> done = CompletableFuture.supplyAsync(() -> {
            try {
                return task.call();
            } catch (Exception e) {
                throw new CompletionException(e);
            }
        });
        Contract.await("done", () -> {
            rig.time.jump(Duration.ofMillis(2));
            return done.isDone();
        });
        try {
            return done.join();
        } catch (CompletionException e) {
            throw e.getCause() instanceof Exception cause ? cause : e;
        }
    }

    private Lease take(QuorumRig.Client client) throws Exception {
        return meanwhile(client.keeper().lock("a", FIXED)::acquire);
    }

    private boolean isTaken(QuorumRig.Client client) throws Exception {
        return meanwhile(() -> {
            Optional<Lease> lease = client.keeper().lock("a", FIXED).tryAcquire();
            lease.ifPresent(Lease::release);
            return lease.isEmpty();
        });
    }

    private boolean release(Lease lease) throws Exception {
        return meanwhile(lease::release);
    }

    private static <T> T get(CompletableFuture<T> future) throws Exception {
        return future.get(Contract.LONG.toSeconds(), TimeUnit.SECONDS);
    }

    // ---- Pauses ----

    @Test
    @DisplayName("K1: a holder that was paused for longer than its lease is told, and its write is refused")
    void aHolderThatWasPausedIsToldAndItsWriteRefused() throws Exception {
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
    @DisplayName("K2, K3: a write that was checked in time and comes too late is refused by the fence alone")
    void aWriteThatWasCheckedInTimeAndComesTooLateIsRefused() throws Exception {
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
    @DisplayName("K4: a grant whose answers come after the lease is no grant, and is given back everywhere")
    void aGrantWhoseAnswersComeAfterTheLeaseIsGivenBack() throws Exception {
        QuorumRig.Client a = rig.client();
        QuorumRig.Client b = rig.client();
        assertThat(isTaken(b)).isFalse(); // the quorum has begun
        List<Gate> gates = pauseAfter(StepKind.CLAIM, a);
        CompletableFuture<Optional<Lease>> attempt =
                CompletableFuture.supplyAsync(() -> a.keeper().lock("a", FIXED).tryAcquire());
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
                CompletableFuture.supplyAsync(() -> a.keeper().lock("a", FIXED).tryAcquire());
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
    @DisplayName("a repeated claim tells what remains when it is answered, though members take their time")
    void aRepeatedClaimTellsWhatRemains() throws Exception {
        QuorumRig.Client a = rig.client();
        assertThat(isTaken(a)).isFalse(); // the quorum has begun
        try (SpiClient client = new SpiClient(a.store())) {
            Terms terms = new Terms(Mode.EXCLUSIVE, 1, 0, LEASE, Duration.ZERO, Duration.ZERO, 1, false, "", "");
            Claim claim = client.newClaim("a", terms);
            Answer.Granted first = SpiClient.granted(meanwhile(() -> a.store().claim(claim)));
            List<Gate> gates = pauseAfter(StepKind.RENEW, a);
            CompletableFuture<Answer> repeated =
                    CompletableFuture.supplyAsync(() -> a.store().claim(claim.asStray()));
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

    /** Waits until no member has anything but its marker; what it remembers for a moment ends as time passes. */
    private void awaitEmpty() throws InterruptedException {
        QuorumRig.Client looking = rig.client();
        Contract.await("members are empty", () -> {
            rig.time.jump(Duration.ofMillis(500));
            looking.keeper().inspector().inspect("unused");
            looking.connections().forEach(c -> c.latch(new LatchStep.Look("unused")));
            return rig.servers.stream().allMatch(server -> server.size() <= 1);
        });
    }

    // ---- Clocks ----

    @Test
    @DisplayName("K5: a clock that jumps far ahead is ignored, so that nobody gets in by it")
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
    @DisplayName("K5: a clock that jumps by less than is allowed may let two in; the fence refuses the older one")
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
    @DisplayName("K13: a member whose clock runs a percent fast lets nobody in while a holder believes to hold")
    void aFastClockLetsNobodyInTooSoon() throws Exception {
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

    // ---- Members that forget ----

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

    /** Tries once; false when it is let in, and gives it back. */
    private boolean triesInVain(QuorumRig.Client client) throws Exception {
        try {
            return isTaken(client);
        } catch (StoreUnavailableException e) {
            return true;
        }
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

    // ---- Messages ----

    @Test
    void aMemberThatHangsDelaysNobodyForGood() throws Exception {
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
    void whatSeemedToFailIsGivenBackAsWell() throws Exception {
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
    void whatAMemberCouldNotBeToldItIsToldWhenItIsHeardOfAgain() throws Exception {
        rig(3);
        QuorumRig.Client a = rig.client();
        Lease held = a.keeper()
                .lock("a", LockOptions.defaults().fixedLease(Duration.ofSeconds(50)))
                .acquire();
        a.cutOff(2);
        assertThat(release(held)).isTrue();
        assertThat(rig.servers.get(2).isHeld("a")).isTrue();
        a.to(2).up();
        Contract.await("it is told", () -> {
            a.keeper().inspector().inspect("b");
            return !rig.servers.get(2).isHeld("a");
        });
    }

    @Test
    void aMinorityThatIsAwayIsNotMissed() throws Exception {
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
    void aMajorityThatIsAwayIsAnErrorAndTheHolderIsTold() throws Exception {
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
        Contract.await("it is told", () -> !losses.isEmpty());
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
