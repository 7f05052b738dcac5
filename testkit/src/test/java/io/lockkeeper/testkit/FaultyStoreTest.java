// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lockkeeper.Mode;
import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.spi.Answer;
import io.lockkeeper.spi.Claim;
import io.lockkeeper.spi.Grant;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Each fault does what it says, once, and nothing else. */
final class FaultyStoreTest extends FaultyStoreRig {
    @Test
    void withoutFaultsItIsTheStore() {
        Grant grant = Grant.of(claim("a"), (Answer.Granted) store.claim(claim("a")));
        assertThat(grant.token()).isPositive();
        assertThat(store.guarantees()).isEqualTo(real.guarantees());
        assertThat(store.id()).isEqualTo(real.id());
        assertThat(store.ticker()).isSameAs(real.ticker());
        assertThat(store.skew()).isEqualTo(real.skew());
        assertThat(store.lane("x")).isSameAs(real.lane("x"));
        assertThat(store.list("", 10)).isEqualTo(real.list("", 10));
    }

    @Test
    void aFailedStepIsNotCarriedOutAndTheNextIs() {
        store.fail(StepKind.CLAIM);
        Claim claim = claim("a");
        assertFails(() -> store.claim(claim));
        assertThat(holders()).isZero();
        assertThat(store.claim(claim)).isInstanceOf(Answer.Granted.class);
    }

    @Test
    void aStepFailsWithTheExceptionGiven() {
        StoreUnavailableException failure = StoreUnavailableException.lasting("wrong password", null);
        store.fail(StepKind.CLAIM, failure);
        assertThatExceptionOfType(StoreUnavailableException.class)
                .isThrownBy(() -> store.claim(claim("a")))
                .isSameAs(failure);
        assertThat(holders()).isZero();
    }

    @Test
    void aStepFailsWithAnythingAtAll() {
        for (Throwable failure : List.of(new OutOfMemoryError("injected"), new IOException("nobody declares it"))) {
            store.fail(StepKind.CLAIM, failure);
            assertThatThrownBy(() -> store.claim(claim("a"))).isSameAs(failure);
            assertThat(holders()).isZero();
        }
    }

    @Test
    void aStepFailsAfterItWasCarriedOut() {
        StackOverflowError failure = new StackOverflowError("injected");
        store.failAfter(StepKind.CLAIM, failure);
        assertThatThrownBy(() -> store.claim(claim("a"))).isSameAs(failure);
        assertThat(holders()).isEqualTo(1);
    }

    @Test
    void aLostReplyLosesTheReplyOnly() {
        store.loseReply(StepKind.CLAIM);
        assertFails(() -> store.claim(claim("a")));
        assertThat(holders()).isEqualTo(1);
    }

    @Test
    void faultsOfAKindAreUsedUpInOrderAndDoNotTouchOtherKinds() {
        store.fail(StepKind.CLAIM);
        store.loseReply(StepKind.CLAIM);
        Claim claim = claim("a");
        store.inspect("x");
        assertFails(() -> store.claim(claim));
        assertThat(holders()).isZero();
        assertFails(() -> store.claim(claim));
        assertThat(holders()).isEqualTo(1);
        assertThat(store.claim(claim)).isInstanceOf(Answer.Granted.class);
    }

    @Test
    void aStepWaitsBeforeItIsCarriedOut() throws Exception {
        Gate gate = store.pauseBefore(StepKind.CLAIM);
        CompletableFuture<Answer> answer = CompletableFuture.supplyAsync(() -> store.claim(claim("a")));
        assertThat(gate.awaitArrival(Waiting.LONG)).isTrue();
        assertThat(holders()).isZero();
        assertThat(answer).isNotDone();
        gate.open();
        assertThat(Waiting.get(answer)).isInstanceOf(Answer.Granted.class);
    }

    @Test
    void anAnswerWaitsAfterTheStepWasCarriedOut() throws Exception {
        Gate gate = store.pauseAfter(StepKind.CLAIM);
        CompletableFuture<Answer> answer = CompletableFuture.supplyAsync(() -> store.claim(claim("a")));
        assertThat(gate.awaitArrival(Waiting.LONG)).isTrue();
        assertThat(holders()).isEqualTo(1);
        assertThat(answer).isNotDone();
        gate.open();
        assertThat(Waiting.get(answer)).isInstanceOf(Answer.Granted.class);
    }

    @Test
    void anInterruptDoesNotBreakAStepAtAGateAndIsKept() throws Exception {
        Gate gate = store.pauseBefore(StepKind.CLAIM);
        CompletableFuture<Boolean> flag = new CompletableFuture<>();
        Thread thread = new Thread(() -> {
            store.claim(claim("a"));
            flag.complete(Thread.currentThread().isInterrupted());
        });
        thread.start();
        assertThat(gate.awaitArrival(Waiting.LONG)).isTrue();
        thread.interrupt();
        Waiting.giveItAChance();
        assertThat(flag).isNotDone();
        gate.open();
        assertThat(Waiting.get(flag)).isTrue();
        assertThat(gate.awaitArrival(Duration.ZERO)).as("it has been there").isTrue();
        assertThat(store.pauseBefore(StepKind.RELEASE).awaitArrival(Duration.ofMillis(1)))
                .as("nobody comes")
                .isFalse();
    }

    @Test
    void aLateStepFailsForItsSenderAndArrivesWhenDelivered() {
        LateStep late = store.sendLate(StepKind.CLAIM);
        assertThat(late.isOnItsWay()).isFalse();
        assertThatIllegalStateException().isThrownBy(late::deliver);
        assertFails(() -> store.claim(claim("a")));
        assertThat(late.isOnItsWay()).isTrue();
        assertThat(holders()).isZero();
        assertThat(late.deliver()).isInstanceOf(Answer.Granted.class);
        assertThat(holders()).isEqualTo(1);
        assertThat(late.isOnItsWay()).isFalse();
        assertThatIllegalStateException().isThrownBy(late::deliver);
    }

    @Test
    void allStepsFailWhileItIsDown() {
        store.fail(StepKind.INSPECT);
        store.down();
        Claim claim = claim("a");
        Grant grant = new Grant(claim, Mode.EXCLUSIVE, 1, 1);
        List<Runnable> steps = List.of(
                store::id,
                () -> store.time(store.lane("x")),
                () -> store.claim(claim),
                () -> store.renew(new io.lockkeeper.spi.Renewals(List.of(), List.of())),
                () -> store.release(grant),
                () -> store.downgrade(grant),
                () -> store.withdraw(claim),
                () -> store.latch(new io.lockkeeper.spi.LatchStep.Look("l")),
                () -> store.inspect("x"),
                () -> store.list("", 1),
                () -> store.check(new io.lockkeeper.Sequencer("x", Mode.EXCLUSIVE, 1)),
                () -> store.breakHold("x", 1, Duration.ZERO, true));
        assertThat(steps).hasSameSizeAs(StepKind.values());
        steps.forEach(this::assertFails);
        assertThat(store.count()).as("failed ones count").isEqualTo(steps.size());
        for (StepKind kind : StepKind.values()) {
            assertThat(store.count(kind)).as(kind.toString()).isEqualTo(1);
        }
        store.up();
        assertFails(() -> store.inspect("x")); // the fault that was asked for before is still to come
        assertThat(store.inspect("x")).isEmpty();
    }

    @Test
    void aStepHasTheFateThatIsDecidedForItsKind() {
        Claim claim = claim("a");
        store.disturb((kind, argument) -> argument == claim ? Fate.replyLost() : Fate.answered());
        assertFails(() -> store.claim(claim));
        assertThat(holders()).as("carried out").isEqualTo(1);
        store.disturb((kind, argument) -> kind == StepKind.RELEASE ? Fate.requestLost() : Fate.answered());
        Grant grant = Grant.of(claim, (Answer.Granted) store.claim(claim));
        assertFails(() -> store.release(grant));
        assertThat(holders()).as("not carried out").isEqualTo(1);
        store.calm();
        assertThat(store.release(grant)).isTrue();
    }

    @Test
    void aStepMayThrowWhatNoStoreShouldThrow() {
        Error error = new Error("injected");
        store.disturb((kind, argument) -> Fate.broken(error, true));
        assertThatThrownBy(() -> store.claim(claim("a"))).isSameAs(error);
        assertThat(holders()).isEqualTo(1);
        store.disturb((kind, argument) -> Fate.broken(new IllegalStateException("injected"), false));
        assertThatIllegalStateException().isThrownBy(() -> store.claim(claim("b")));
        assertThat(real.inspect("x").orElseThrow().waiters()).isZero();
        assertThatIllegalArgumentException().isThrownBy(() -> Fate.broken(new Exception("checked"), true));
    }

    @Test
    void aDelayedStepIsNotBrokenOffByAnInterrupt() {
        Duration delay = Duration.ofMillis(20);
        store.disturb((kind, argument) -> Fate.answered().sentAfter(delay).answeredAfter(delay));
        long began = System.nanoTime();
        Thread.currentThread().interrupt();
        store.claim(claim("a"));
        assertThat(Thread.interrupted()).as("the flag is kept").isTrue();
        assertThat(System.nanoTime() - began)
                .isGreaterThanOrEqualTo(delay.multipliedBy(2).toNanos());
    }

    @Test
    void aRequestedFaultComesBeforeTheDisturbance() {
        store.disturb((kind, argument) -> Fate.broken(new IllegalStateException("injected"), false));
        store.fail(StepKind.CLAIM);
        assertFails(() -> store.claim(claim("a")));
        assertThatIllegalStateException().isThrownBy(() -> store.claim(claim("a")));
    }

    @Test
    void stepsAreCountedAndShown() {
        List<String> seen = new ArrayList<>();
        store.observe((kind, argument) -> seen.add(kind + " " + argument));
        store.inspect("x");
        store.inspect("y");
        store.list("p", 1);
        assertThat(store.count(StepKind.INSPECT)).isEqualTo(2);
        assertThat(store.count()).isEqualTo(3);
        assertThat(seen).containsExactly("INSPECT x", "INSPECT y", "LIST p");
        store.resetCounts();
        assertThat(store.count()).isZero();
    }

    @Test
    void aStoreThatHangsFailsEachStepAfterAWhile() {
        Duration each = Duration.ofMillis(50);
        store.hang(each);
        long start = System.nanoTime();
        assertFails(() -> store.claim(claim("a")));
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThanOrEqualTo(each);
        assertThat(holders()).isZero();
        store.up();
        assertThat(store.claim(claim("a"))).isInstanceOf(Answer.Granted.class);
    }

    @Test
    void aStepThatHangsEndsWhenTheStoreComesUpAgainAndNotWhenItIsInterrupted() throws Exception {
        store.hang(Duration.ofHours(1));
        CompletableFuture<Boolean> keptFlag = new CompletableFuture<>();
        Thread thread = new Thread(() -> {
            assertFails(() -> store.claim(claim("a")));
            keptFlag.complete(Thread.currentThread().isInterrupted());
        });
        thread.start();
        thread.interrupt();
        while (thread.getState() != Thread.State.TIMED_WAITING) {
            Thread.onSpinWait();
        }
        assertThat(keptFlag).isNotDone();
        store.up();
        assertThat(keptFlag.get(30, TimeUnit.SECONDS)).isTrue();
        assertThat(holders()).isZero();
    }

    @Test
    void aReplyThatIsLostLateBelongsToAStepThatWasCarriedOut() throws Exception {
        Gate gate = store.loseReplyAfter(StepKind.CLAIM);
        CompletableFuture<Void> lost = CompletableFuture.runAsync(() -> assertFails(() -> store.claim(claim("a"))));
        assertThat(gate.awaitArrival(Duration.ofSeconds(30))).isTrue();
        assertThat(holders()).isOne();
        assertThat(lost).isNotDone();
        gate.open();
        lost.get(30, TimeUnit.SECONDS);
    }
}
