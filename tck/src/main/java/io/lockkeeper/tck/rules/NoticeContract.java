// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck.rules;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.lockkeeper.DistributedReadWriteLock;
import io.lockkeeper.Guarantee;
import io.lockkeeper.Lease;
import io.lockkeeper.LeaseLost;
import io.lockkeeper.LeaseLostException;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.tck.support.FaultContract;
import io.lockkeeper.tck.support.Promise;
import io.lockkeeper.testkit.FaultyStore;
import io.lockkeeper.testkit.StepKind;
import java.time.Duration;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * H92: the time to stop that a reader is notified of is the time that it has: no writer acquires the lock before, whatever becomes of
 * other readers of its process, with which it shares a hold.
 */
public abstract class NoticeContract extends FaultContract {
    private final HeldUp executor = new HeldUp();
    private FaultyStore store;
    private Lockkeeper keeper;
    private Lockkeeper other;
    private DistributedReadWriteLock both;

    /** An executor that runs nothing for a while, as a busy one does. */
    private final class HeldUp implements Executor {
        private final Queue<Runnable> waiting = new ConcurrentLinkedQueue<>();
        private volatile boolean busy;

        @Override
        public void execute(Runnable task) {
            if (busy) {
                waiting.add(task);
            } else {
                async(() -> {
                    task.run();
                    return true;
                });
            }
        }

        void goOn() {
            busy = false;
            for (Runnable task = waiting.poll(); task != null; task = waiting.poll()) {
                execute(task);
            }
        }
    }

    @BeforeEach
    final void readers() {
        store = faulty();
        keeper = keeper(store, builder -> builder.executor(executor));
        other = keeper();
        Promise.needed(keeper.guarantees(), Guarantee.SHARED);
        // A tenth of it is the time to stop: much longer than anything here takes.
        both = keeper.readWriteLock(name(), LockOptions.defaults().lease(atLeast(5_000)));
    }

    /** A reader that wants to be notified. */
    private Lease reader() throws InterruptedException {
        return hold(both.readLock()).onLost(loss -> {});
    }

    /** Another reader that shares the hold, and whose future is not completed until the executor goes on. */
    private CompletableFuture<Lease> lateReader() throws InterruptedException {
        executor.busy = true;
        CompletableFuture<Lease> late = both.readLock().acquireAsync();
        late.thenAccept(Lease::release);
        await("its completion waits for the executor", () -> !executor.waiting.isEmpty());
        return late;
    }

    private void breakIt(Lease lease) {
        assertThat(other.inspector().breakHold(name(), lease.token(), Duration.ZERO))
                .isTrue();
    }

    private static LeaseLost lossNow(Lease lease) throws InterruptedException {
        await("it is lost", () -> !lease.isValid());
        return Objects.requireNonNull(catchThrowableOfType(LeaseLostException.class, lease::ensureValid))
                .loss();
    }

    /** No writer enters before the time that was announced has passed since the reader was last seen to be valid. */
    private static void hasItsTime(LeaseLost loss, Future<Long> lastValid, Future<Entry> writer) throws Exception {
        assertThat(loss.remaining()).as("there is time to stop").isGreaterThan(Duration.ofMillis(100));
        assertPassed("the time to stop", get(lastValid), get(writer).at(), loss.remaining());
    }

    @Test
    void aReaderThatCameTooLateForABrokenHoldDoesNotEndIt() throws Exception {
        Lease reader = reader();
        lateReader();
        Future<Long> lastValid = lastValid(reader);
        Future<Entry> writer = enter(other.lock(name()));
        breakIt(reader);
        LeaseLost loss = lossNow(reader);
        executor.goOn();
        hasItsTime(loss, lastValid, writer);
    }

    @Test
    void aReaderThatCameTooLateForAHoldThatRanOutDoesNotEndIt() throws Exception {
        Lease reader = reader();
        pauseBefore(store, StepKind.RENEW);
        lateReader();
        Future<Long> lastValid = lastValid(reader);
        Future<Entry> writer = enter(other.lock(name()));
        LeaseLost loss = lossNow(reader);
        executor.goOn();
        hasItsTime(loss, lastValid, writer);
    }

    @Test
    void aReaderThatGaveUpDoesNotEndTheHoldOfTheOthers() throws Exception {
        Lease reader = reader();
        CompletableFuture<Lease> late = lateReader();
        Future<Long> lastValid = lastValid(reader);
        Future<Entry> writer = enter(other.lock(name()));
        breakIt(reader);
        LeaseLost loss = lossNow(reader);
        late.cancel(true);
        executor.goOn();
        hasItsTime(loss, lastValid, writer);
    }

    @Test
    void aReaderThatStopsEarlyDoesNotEndTheTimeOfTheOthers() throws Exception {
        Lease first = reader();
        Lease second = reader();
        Lease third = hold(both.readLock());
        Future<Long> lastValid = lastValid(first);
        Future<Entry> writer = enter(other.lock(name()));
        breakIt(first);
        LeaseLost loss = lossNow(first);
        second.release(); // on a busy machine they may have come too late to share the hold, and be valid
        third.release();
        hasItsTime(loss, lastValid, writer);
    }

    @Test
    void aReaderThatReleasedBeforeTheBreakDoesNotShortenTheNotice() throws Exception {
        Lease first = reader();
        Lease second = reader();
        assertThat(second.release()).isTrue();
        Future<Long> lastValid = lastValid(first);
        Future<Entry> writer = enter(other.lock(name()));
        breakIt(first);
        LeaseLost loss = lossNow(first);
        hasItsTime(loss, lastValid, writer);
    }
}
