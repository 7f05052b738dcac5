// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck.rules;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.lockkeeper.DistributedLock;
import io.lockkeeper.DistributedReadWriteLock;
import io.lockkeeper.Guarantee;
import io.lockkeeper.Lease;
import io.lockkeeper.LeaseLost;
import io.lockkeeper.LeaseLostException;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.tck.support.FaultContract;
import io.lockkeeper.tck.support.Promise;
import io.lockkeeper.testkit.FaultyStore;
import io.lockkeeper.testkit.Gate;
import io.lockkeeper.testkit.StepKind;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Rules 1 and 9 for steps that were carried out and whose answers never came. Tokens decide these tests: a hold that rests on
 * something outdated has a lower one than the hold of another client, so that no test has to catch both in the act.
 */
@SuppressWarnings("LockNotBeforeTry")
public abstract class UnknownOutcomeContract extends FaultContract {
    private static final Duration TIMEOUT = Duration.ofMillis(300);

    // ---- A grant that is over before its claim is answered (H72) ----

    /**
     * The claim is queued, but its answer is on its way for long; meanwhile the claim is granted, which is signalled, and its
     * first lease ends. Then the answer is lost, and the claim, sent again, queues after the next holder. The signal speaks of
     * a grant from before that answer, whether it came early or comes only now.
     */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aSignalFromBeforeTheLastAnswerGrantsNothing(boolean late) throws Exception {
        FaultyStore store = faulty();
        Lockkeeper first = keeper();
        Lease held = hold(first.lock(name(), longLease()));
        Lockkeeper keeper = keeper(store, b -> b.operationTimeout(LONG).patience(LONG));
        if (late) {
            store.holdSignals();
        }
        Gate answer = store.loseReplyAfter(StepKind.CLAIM);
        closing(answer::open);
        Future<Entry> waiting = queue(keeper.lock(name(), kept()));
        awaitArrival(answer);
        awaitWaiters(first, name(), 1);
        Future<Entry> next = queue(keeper().lock(name(), longLease()));
        awaitWaiters(first, name(), 2);

        assertThat(held.release()).isTrue();
        await("it is signalled, if this store does", () -> late ? store.heldSignals() > 0 || next.isDone() : true);
        store.loseSignals(late); // that the grant is over is not signalled
        Lease others = get(next).lease(); // the first lease of the claim in between has ended
        answer.open();
        awaitWaiters(first, name(), 1);
        store.loseSignals(false);
        store.deliverSignals();
        assertThat(others.isValid()).isTrue();
        assertThat(waiting.isDone()).as("granted by old news").isFalse();

        assertThat(others.release()).isTrue();
        assertThat(get(waiting).lease().token()).isGreaterThan(others.token());
    }

    /** The same where the claim is granted again later: it is that grant which counts. */
    @Test
    void aRepeatedClaimIsGrantedWhenItsTurnComes() throws Exception {
        FaultyStore store = faulty();
        Lockkeeper first = keeper();
        Lease held = hold(first.lock(name(), longLease()));
        Lockkeeper keeper = keeper(store, b -> b.operationTimeout(LONG).patience(LONG));
        Gate answer = store.loseReplyAfter(StepKind.CLAIM);
        closing(answer::open);
        Future<Entry> waiting = queue(keeper.lock(name(), keptSafely()));
        awaitArrival(answer);
        awaitWaiters(first, name(), 1);
        assertThat(held.release()).isTrue();
        answer.open(); // and the repeat finds the grant, or its first lease over
        Lease lease = get(waiting).lease();
        assertThat(lease.isValid()).isTrue();
        assertThat(lease.token()).isGreaterThan(held.token());
        assertThat(lease.release()).isTrue();
        assertThat(isFree(first.lock(name()))).isTrue();
    }

    // ---- A downgrade that was performed and never answered (H73) ----

    private static final int MORE_THAN_ONE_STEP = 50;

    /** A thread of {@code keeper} that writes, and reads in order to go on as a reader. */
    private DistributedReadWriteLock writing(Lockkeeper keeper, LockOptions options) {
        Promise.needed(keeper.guarantees(), Guarantee.SHARED);
        DistributedReadWriteLock mine = keeper.readWriteLock(name(), options);
        mine.writeLock().lock();
        mine.readLock().lock();
        return mine;
    }

    private static void loseDowngrades(FaultyStore store) {
        for (int i = 0; i < MORE_THAN_ONE_STEP; i++) {
            store.loseReply(StepKind.DOWNGRADE);
        }
    }

    private static void assertUnknown(Throwable failure) {
        assertThat(failure).isInstanceOfAny(StoreUnavailableException.class, IllegalMonitorStateException.class);
    }

    /** What a thread does in its {@code finally} blocks, whatever has failed before. */
    public static void unlockIfHeld(DistributedLock lock) {
        try {
            lock.unlock();
        } catch (IllegalMonitorStateException | StoreUnavailableException e) {
            // It was not held any more, or the store did not answer.
        }
    }

    @Test
    void aHoldWhoseDowngradeIsNotAnsweredEndsAsLost() throws Exception {
        FaultyStore store = faulty();
        Lockkeeper keeper = keeper(store, b -> b.operationTimeout(TIMEOUT));
        DistributedReadWriteLock mine = writing(keeper, keptSafely());
        Lease writer = mine.writeLock().lease();
        CompletableFuture<LeaseLost> loss = lossOf(writer);
        loseDowngrades(store);
        assertUnknown(catchThrowable(mine.writeLock()::unlock));
        assertThat(get(loss).token()).isEqualTo(writer.token());
        assertThat(writer.isValid()).isFalse();
        assertThat(mine.writeLock().isHeldByCurrentThread()).isFalse();
        assertThat(mine.readLock().isHeldByCurrentThread()).isFalse();
        assertThatThrownBy(mine.readLock()::unlock)
                .isInstanceOf(IllegalMonitorStateException.class)
                .hasCauseInstanceOf(LeaseLostException.class);
        assertThat(keeper().lock(name()).tryAcquire(LONG))
                .as("it is not renewed")
                .isPresent();
    }

    /** The store has granted the readers what a thread of this process must therefore not be passed as a writer. */
    @Test
    void aHoldWhoseDowngradeIsNotAnsweredIsNotPassedToAWriter() throws Exception {
        FaultyStore store = faulty();
        Lockkeeper keeper = keeper(store, b -> b.operationTimeout(TIMEOUT));
        Lockkeeper other = keeper();
        DistributedReadWriteLock mine = writing(keeper, keptSafely());
        Lease writer = mine.writeLock().lease();
        Future<Entry> reading = queue(other.readWriteLock(name(), longLease()).readLock());
        awaitWaiters(other, name(), 1);
        Future<Entry> writing = queue(keeper.readWriteLock(name(), keptSafely()).writeLock());
        loseDowngrades(store);
        assertUnknown(catchThrowable(mine.writeLock()::unlock));
        Lease reader = get(reading).lease();
        assertThat(writer.isValid() && reader.isValid())
                .as("reader and writer both hold")
                .isFalse();
        unlockIfHeld(mine.readLock()); // which would pass on what this process still has
        unlockIfHeld(mine.writeLock());
        assertThat(reader.isValid()).isTrue();
        assertThat(writing.isDone()).as("reader and writer both hold").isFalse();

        assertThat(reader.release()).isTrue();
        assertThat(get(writing).lease().token()).isGreaterThan(reader.token());
    }

    /** The answer of the store to the repeat may also be that it knows no such hold. */
    @Test
    void aHoldThatEndsBetweenADowngradeAndItsRepeatIsNotPassedToAWriter() throws Exception {
        FaultyStore store = faulty();
        store.loseSignals(true);
        Lockkeeper keeper = keeper(store, b -> b.operationTimeout(LONG));
        Lockkeeper other = keeper();
        DistributedReadWriteLock mine = writing(keeper, longLease());
        long token = mine.writeLock().lease().token();
        Gate answer = store.loseReplyAfter(StepKind.DOWNGRADE);
        closing(answer::open);
        Future<Entry> writing = queue(keeper.readWriteLock(name(), longLease()).writeLock());
        Future<Lease> others = async(() -> {
            try {
                awaitArrival(answer);
                long reader = other.inspector()
                        .inspect(name())
                        .orElseThrow()
                        .holders()
                        .get(0)
                        .token();
                assertThat(other.inspector().breakHoldNow(name(), reader, Duration.ZERO))
                        .isTrue();
                return other.lock(name(), longLease()).tryAcquire(LONG).orElseThrow();
            } finally {
                answer.open(); // this test's own thread waits for it
            }
        });
        assertUnknown(catchThrowable(mine.writeLock()::unlock));
        unlockIfHeld(mine.readLock());
        Lease lease = get(others);
        assertThat(lease.token()).isGreaterThan(token);
        assertThat(lease.isValid()).isTrue();
        assertThat(writing.isDone()).as("two writers hold").isFalse();
        assertThat(lease.release()).isTrue();
        store.loseSignals(false);
        store.up();
        assertThat(get(writing).lease().token()).isGreaterThan(lease.token());
    }
}
