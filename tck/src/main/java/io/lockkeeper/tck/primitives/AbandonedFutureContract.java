// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck.primitives;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.DistributedLock;
import io.lockkeeper.DistributedSemaphore;
import io.lockkeeper.Guarantee;
import io.lockkeeper.Lease;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.spi.LatchStep;
import io.lockkeeper.tck.support.HandleContract;
import io.lockkeeper.tck.support.Promise;
import io.lockkeeper.testkit.FaultyStore;
import io.lockkeeper.testkit.Gate;
import io.lockkeeper.testkit.StepKind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** H86: however a future that waits is completed, it does not wait any more: not in the store's queue, and not for a grant. */
public abstract class AbandonedFutureContract extends HandleContract {
    private FaultyStore store;
    private Lockkeeper keeper;
    private Lockkeeper other;

    /** The ways in which a user can complete a future that waits. */
    enum End {
        CANCEL,
        COMPLETE,
        COMPLETE_ASYNC,
        COMPLETE_EXCEPTIONALLY,
        COMPLETE_ON_TIMEOUT,
        OR_TIMEOUT,
        OBTRUDE_VALUE,
        OBTRUDE_EXCEPTION;

        /** Completes it, with this value where one is needed; a timeout may take a while. */
        <T> void end(CompletableFuture<T> future, T value) throws InterruptedException {
            switch (this) {
                case CANCEL -> future.cancel(true);
                case COMPLETE -> future.complete(value);
                case COMPLETE_ASYNC -> future.completeAsync(() -> value);
                case COMPLETE_EXCEPTIONALLY -> future.completeExceptionally(new IllegalStateException("by the user"));
                case COMPLETE_ON_TIMEOUT -> future.completeOnTimeout(value, 1, TimeUnit.MILLISECONDS);
                case OR_TIMEOUT -> future.orTimeout(1, TimeUnit.MILLISECONDS);
                case OBTRUDE_VALUE -> future.obtrudeValue(value);
                case OBTRUDE_EXCEPTION -> future.obtrudeException(new IllegalStateException("by the user"));
                default -> throw new AssertionError(this);
            }
            await("it has been completed", future::isDone);
        }
    }

    @BeforeEach
    final void keepers() {
        store = faulty();
        keeper = keeper(store);
        other = keeper();
    }

    private static LockOptions fair() {
        return outlasting().fair(true);
    }

    @ParameterizedTest
    @EnumSource(End.class)
    void aClaimLeavesTheQueue(End end) throws Exception {
        Lease held = other.lock(name()).acquire();
        DistributedLock lock = keeper.lock(name(), fair());
        CompletableFuture<Lease> waits = lock.acquireAsync();
        CompletableFuture<Optional<Lease>> tries = lock.tryAcquireAsync(LONG);
        awaitQueued(other, name(), 2);
        end.end(waits, nothing());
        end.end(tries, Optional.empty());
        awaitQueued(other, name(), 0);
        assertThat(held.release()).isTrue();
        freeSoon(other.lock(name()));
    }

    @ParameterizedTest
    @EnumSource(End.class)
    void otherFuturesOfTheSameClaimKeepWaitingUntilTheLastOneEnds(End end) throws Exception {
        Lease held = other.lock(name()).acquire();
        DistributedLock lock = keeper.lock(name(), outlasting());
        CompletableFuture<Lease> first = lock.acquireAsync();
        CompletableFuture<Lease> second = lock.acquireAsync();
        CompletableFuture<Lease> third = lock.acquireAsync();
        awaitQueued(other, name(), 1);
        end.end(first, nothing());
        end.end(third, nothing());
        assertThat(held.release()).isTrue();
        assertThat(get(second).release()).isTrue();
        freeSoon(other.lock(name()));

        Lease again = other.lock(name()).acquire();
        CompletableFuture<Lease> last = lock.acquireAsync();
        CompletableFuture<Lease> none = lock.acquireAsync();
        awaitQueued(other, name(), 1);
        end.end(last, nothing());
        end.end(none, nothing());
        awaitQueued(other, name(), 0);
        assertThat(again.release()).isTrue();
        freeSoon(other.lock(name()));
    }

    @ParameterizedTest
    @EnumSource(End.class)
    void aGrantThatIsUnderWayIsGivenBack(End end) throws Exception {
        for (boolean carriedOut : new boolean[] {true, false}) {
            Gate gate = carriedOut ? gateAfter(store, StepKind.CLAIM) : gateBefore(store, StepKind.CLAIM);
            CompletableFuture<Lease> future = keeper.lock(name(), outlasting()).acquireAsync();
            arrive(gate);
            end.end(future, nothing());
            gate.open();
            freeSoon(other.lock(name()));
        }
    }

    @ParameterizedTest
    @EnumSource(End.class)
    void aGrantThatIsNotSignalledYetIsGivenBack(End end) throws Exception {
        Lease held = other.lock(name()).acquire();
        CompletableFuture<Lease> future = keeper.lock(name(), outlasting()).acquireAsync();
        awaitBehind(store, other, name());
        store.holdSignals();
        assertThat(held.release()).isTrue();
        end.end(future, nothing());
        store.deliverSignals();
        freeSoon(other.lock(name()));
    }

    @ParameterizedTest
    @EnumSource(End.class)
    void aClaimOfPermitsLeavesTheQueue(End end) throws Exception {
        Promise.needed(keeper.guarantees(), Guarantee.PERMITS);
        DistributedSemaphore permits = other.semaphore(name(), 3);
        Lease held = permits.acquire(2);
        CompletableFuture<Lease> two = keeper.semaphore(name(), 3, outlasting()).acquireAsync(2);
        CompletableFuture<Lease> three =
                keeper.semaphore(name(), 3, outlasting()).acquireAsync(3);
        awaitQueued(other, name(), 2);
        end.end(two, nothing());
        end.end(three, nothing());
        awaitQueued(other, name(), 0);
        assertThat(held.release()).isTrue();
        soon("all permits are there", () -> permits.availablePermits() == 3);
        assertThat(permits.acquire(3).release()).isTrue();
    }

    @ParameterizedTest
    @EnumSource(End.class)
    void aCallForSeveralLocksReleasesItsPartsAndLeavesTheQueue(End end) throws Exception {
        Lease held = other.lock(name("b")).acquire();
        DistributedLock all =
                DistributedLock.all(keeper.lock(name("a"), outlasting()), keeper.lock(name("b"), outlasting()));
        CompletableFuture<Lease> waits = all.acquireAsync();
        await("it has a", () -> other.lock(name("a")).isLocked());
        awaitQueued(other, name("b"), 1);
        end.end(waits, nothing());
        freeSoon(other.lock(name("a")));
        awaitQueued(other, name("b"), 0);

        CompletableFuture<Optional<Lease>> tries = all.tryAcquireAsync(LONG);
        await("it has a", () -> other.lock(name("a")).isLocked());
        awaitQueued(other, name("b"), 1);
        end.end(tries, Optional.empty());
        freeSoon(other.lock(name("a")));
        awaitQueued(other, name("b"), 0);
        assertThat(held.release()).isTrue();
        freeSoon(other.lock(name("b")));
    }

    @Test
    void aLatchIsNotLookedAtForAFutureThatIsDone() throws Exception {
        Promise.needed(keeper.guarantees(), Guarantee.LATCH);
        FaultyStore looked = faulty();
        Map<String, AtomicInteger> looks = new ConcurrentHashMap<>();
        looked.observe((kind, argument) -> {
            if (argument instanceof LatchStep step) {
                looks.computeIfAbsent(step.name(), n -> new AtomicInteger()).incrementAndGet();
            }
        });
        Lockkeeper mine = closing(Lockkeeper.builder(looked)
                .patience(Duration.ofMillis(600)) // a third of it is the time between looks
                .build());
        assertThat(other.latch(name("awaited")).trySetCount(1)).isTrue();
        CompletableFuture<Void> goesOn = mine.latch(name("awaited")).awaitAsync();
        for (End end : End.values()) {
            String latch = name(end.name());
            assertThat(other.latch(latch).trySetCount(1)).isTrue();
            CompletableFuture<Void> future = mine.latch(latch).awaitAsync();
            await("it looks", () -> looks.containsKey(latch));
            end.end(future, nothing());
        }
        AtomicInteger awaited = looks.computeIfAbsent(name("awaited"), n -> new AtomicInteger());
        int soFar = awaited.get();
        await("looks that were under way have ended", () -> awaited.get() >= soFar + 2);
        looks.values().forEach(count -> count.set(0));
        await("the latch that is awaited is looked at", () -> awaited.get() >= 3);
        for (End end : End.values()) {
            assertThat(looks.get(name(end.name()))).as("looks after " + end).hasValue(0);
        }
        other.latch(name("awaited")).countDown();
        get(goesOn);
    }

    @Test
    void aThousandFuturesThatAreGivenUpLeaveNothing() throws Exception {
        Lease held = other.lock(name()).acquire();
        DistributedLock lock = keeper.lock(name(), fair());
        // Where the store has no queue, each of them asks again and again, which is not what this is about.
        int crowd = keeper.guarantees().has(Guarantee.FAIR) ? 1_000 : 50;
        List<CompletableFuture<Lease>> futures = new ArrayList<>();
        for (int i = 0; i < crowd; i++) {
            futures.add(lock.acquireAsync());
        }
        awaitQueued(other, name(), crowd);
        End[] ends = End.values();
        for (int i = 0; i < crowd; i++) {
            ends[i % ends.length].end(futures.get(i), nothing());
        }
        for (CompletableFuture<Lease> each : futures) {
            await("it has been completed", each::isDone);
        }
        awaitQueued(other, name(), 0);
        assertThat(held.release()).isTrue();
        freeSoon(other.lock(name()));
        soon("the store has forgotten the name", () -> other.inspector()
                .inspect(name())
                .map(info -> info.holders().isEmpty() && info.waiters() == 0)
                .orElse(true));
    }
}
