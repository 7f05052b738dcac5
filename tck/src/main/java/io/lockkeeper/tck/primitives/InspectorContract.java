// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck.primitives;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.within;

import io.lockkeeper.DistributedReadWriteLock;
import io.lockkeeper.Guarantee;
import io.lockkeeper.Inspector;
import io.lockkeeper.Lease;
import io.lockkeeper.LockInfo;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.Mode;
import io.lockkeeper.Sequencer;
import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.tck.support.ApiContract;
import io.lockkeeper.tck.support.Promise;
import io.lockkeeper.testkit.FaultyStore;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/** Locks seen from outside. */
public abstract class InspectorContract extends ApiContract {
    @Test
    void aNameThatNobodyUsesIsNotShown() throws Exception {
        Inspector inspector = keeper().inspector();
        assertThat(inspector.inspect(name())).isEmpty();
        assertThat(inspector.list(name(), 10)).isEmpty();
        assertThat(inspector.check(new Sequencer(name(), Mode.EXCLUSIVE, 1))).isFalse();
        assertThat(inspector.breakHold(name(), 1, Duration.ZERO)).isFalse();
        keeper().lock(name()).acquire().release();
        assertThat(inspector.inspect(name())).isEmpty();
        assertThat(inspector.list(name(), 10)).isEmpty();
    }

    @Test
    void aHoldIsDescribed() throws Exception {
        Lockkeeper holder =
                closing(Lockkeeper.builder(store()).clientName("host é:1").build());
        Instant before = Instant.now();
        LockOptions options = LockOptions.defaults().label("nightly report ✓").lease(Duration.ofMinutes(2));
        try (Lease lease = holder.lock(name(), options).acquire()) {
            LockInfo info = keeper().inspector().inspect(name()).orElseThrow();
            assertThat(info.name()).isEqualTo(name());
            assertThat(info.mode()).isEqualTo(Mode.EXCLUSIVE);
            assertThat(info.limit()).isZero();
            assertThat(info.waiters()).isZero();
            assertThat(info.closedFor()).isZero();
            assertThat(info.holders()).hasSize(1);
            LockInfo.Hold hold = info.holders().get(0);
            assertThat(hold.client()).isEqualTo("host é:1");
            assertThat(hold.label()).isEqualTo("nightly report ✓");
            assertThat(hold.token()).isEqualTo(lease.token());
            assertThat(hold.permits()).isOne();
            assertThat(hold.since()).isCloseTo(before, within(10, ChronoUnit.MINUTES));
            assertThat(hold.expiresIn()).isPositive().isLessThanOrEqualTo(Duration.ofMinutes(2));
        }
    }

    @Test
    void clientsAndLabelsHaveDefaults() throws Exception {
        try (Lease lease = keeper().lock(name()).acquire()) {
            assertThat(lease.isValid()).isTrue();
            LockInfo.Hold hold =
                    keeper().inspector().inspect(name()).orElseThrow().holders().get(0);
            assertThat(hold.label()).isEmpty();
            assertThat(hold.client()).endsWith(":" + ProcessHandle.current().pid());
        }
    }

    @Test
    void waitersAreCountedAndTheLabelIsTheHolders() throws Exception {
        Lockkeeper keeper = keeper();
        Promise.needed(keeper.guarantees(), Guarantee.FAIR);
        Lease held = keeper.lock(name(), LockOptions.defaults().label("first")).acquire();
        CompletableFuture<Lease> one =
                keeper().lock(name(), LockOptions.defaults().label("second")).acquireAsync();
        awaitWaiters(keeper, name(), 1);
        CompletableFuture<Lease> two = keeper().lock(name()).acquireAsync();
        awaitWaiters(keeper, name(), 2);
        assertThat(labels(keeper)).containsExactly("first");
        assertThat(held.release()).isTrue();
        Lease next = get(one);
        assertThat(labels(keeper)).containsExactly("second");
        awaitWaiters(keeper, name(), 1);
        assertThat(next.release()).isTrue();
        assertThat(get(two).release()).isTrue();
        assertThat(keeper.inspector().inspect(name())).isEmpty();
    }

    private List<String> labels(Lockkeeper keeper) {
        return keeper.inspector().inspect(name()).orElseThrow().holders().stream()
                .map(LockInfo.Hold::label)
                .toList();
    }

    @Test
    void readersAreAllDescribed() throws Exception {
        Lockkeeper one = closing(Lockkeeper.builder(store()).clientName("one").build());
        Lockkeeper two = closing(Lockkeeper.builder(store()).clientName("two").build());
        Promise.needed(one.guarantees(), Guarantee.SHARED);
        try (Lease first = one.readWriteLock(name()).readLock().acquire();
                Lease second = two.readWriteLock(name()).readLock().acquire()) {
            LockInfo info = keeper().inspector().inspect(name()).orElseThrow();
            assertThat(info.mode()).isEqualTo(Mode.SHARED);
            assertThat(info.holders()).extracting(LockInfo.Hold::client).containsExactlyInAnyOrder("one", "two");
            assertThat(info.holders())
                    .extracting(LockInfo.Hold::token)
                    .containsExactlyInAnyOrder(first.token(), second.token());
        }
    }

    @Test
    void aListingIsInTheOrderOfNamesAndEndsAtItsLimit() throws Exception {
        Lockkeeper keeper = keeper();
        List<String> names = List.of(name("a"), name("a/1"), name("ab"), name("b"), name("c"));
        for (int i : new int[] {3, 0, 4, 2, 1}) {
            closing(keeper.lock(names.get(i)).acquire());
        }
        Inspector inspector = keeper().inspector();
        assertThat(listed(inspector, name(""), 10_000)).isEqualTo(names);
        for (int limit = 1; limit <= 6; limit++) {
            assertThat(listed(inspector, name(""), limit)).isEqualTo(names.subList(0, Math.min(limit, 5)));
        }
        assertThat(listed(inspector, name("a"), 10)).isEqualTo(names.subList(0, 3));
        assertThat(listed(inspector, name("a/"), 10)).containsExactly(name("a/1"));
        assertThat(listed(inspector, name("d"), 10)).isEmpty();
        assertThat(inspector.list(name("b"), 10)).hasSize(1).first().satisfies(info -> assertThat(info.holders())
                .hasSize(1));
    }

    private static List<String> listed(Inspector inspector, String prefix, int limit) {
        return inspector.list(prefix, limit).stream().map(LockInfo::name).toList();
    }

    @Test
    void aSequencerIsGoodWhileItsHoldIsInForce() throws Exception {
        Lockkeeper keeper = keeper();
        Inspector inspector = keeper().inspector();
        Lease lease = keeper.lock(name(), lively(keeper)).acquire();
        Sequencer good = lease.sequencer();
        assertThat(good).isEqualTo(new Sequencer(name(), Mode.EXCLUSIVE, lease.token()));
        assertThat(inspector.check(good)).isTrue();
        assertThat(inspector.check(Sequencer.parse(good.toString()))).isTrue();
        assertThat(inspector.check(new Sequencer(name(), Mode.SHARED, good.token())))
                .isFalse();
        assertThat(inspector.check(new Sequencer(name("y"), Mode.EXCLUSIVE, good.token())))
                .isFalse();
        assertThat(inspector.check(new Sequencer(name(), Mode.EXCLUSIVE, Long.MAX_VALUE)))
                .isFalse();
        if (good.token() > 1) {
            assertThat(inspector.check(new Sequencer(name(), Mode.EXCLUSIVE, good.token() - 1)))
                    .isFalse();
        }
        assertThat(lease.release()).isTrue();
        assertThat(inspector.check(good)).isFalse();
        assertThat(lease.sequencer()).as("it may still be read").isEqualTo(good);
        try (Lease next = keeper.lock(name()).acquire()) {
            assertThat(inspector.check(good)).isFalse();
            assertThat(inspector.check(next.sequencer())).isTrue();
        }
    }

    @Test
    void aSequencerEndsWithTheLossOfItsHold() throws Exception {
        Lockkeeper keeper = keeper();
        Lockkeeper other = keeper();
        Lease broken = keeper.lock(name(), lively(keeper)).acquire();
        Sequencer sequencer = broken.sequencer();
        lose(broken, other);
        assertThat(other.inspector().check(sequencer)).isFalse();
        Lease brief = keeper.lock(name(), brief(keeper)).acquire();
        Sequencer expires = brief.sequencer();
        assertThat(other.inspector().check(expires)).isTrue();
        await("it ends", () -> !other.inspector().check(expires));
        assertThat(brief.isValid()).as("validity ends first").isFalse();
    }

    @Test
    void aSequencerEndsWithTheHandOffInsideOneClient() throws Exception {
        Lockkeeper keeper = keeper();
        Inspector inspector = keeper().inspector();
        for (int i = 0; i < 5; i++) {
            Lease first = keeper.lock(name()).acquire();
            CompletableFuture<Lease> waits = keeper.lock(name()).acquireAsync();
            Sequencer sequencer = first.sequencer();
            assertThat(inspector.check(sequencer)).isTrue();
            assertThat(first.release()).isTrue();
            Lease second = get(waits);
            assertThat(inspector.check(sequencer)).isFalse();
            assertThat(inspector.check(second.sequencer())).isTrue();
            assertThat(second.sequencer().token()).isEqualTo(second.token());
            assertThat(second.release()).isTrue();
        }
    }

    @Test
    void aHandedOffHoldHasItsOwnSequencer() throws Exception {
        Lockkeeper keeper = keeper();
        Inspector inspector = keeper().inspector();
        Lease first = keeper.lock(name()).acquire();
        CompletableFuture<Lease> waits = keeper.lock(name()).acquireAsync();
        assertThat(first.release()).isTrue();
        Lease second = get(waits);
        assertThat(second.token()).isGreaterThan(first.token());
        assertThat(inspector.check(second.sequencer())).isTrue();
        long shown = inspector.inspect(name()).orElseThrow().holders().get(0).token();
        assertThat(shown).isLessThanOrEqualTo(second.token());
        assertThat(second.release()).isTrue();
        assertThat(inspector.check(second.sequencer())).isFalse();
    }

    @Test
    void theSequencerOfAReaderIsAReaders() throws Exception {
        Lockkeeper keeper = keeper();
        Promise.needed(keeper.guarantees(), Guarantee.SHARED);
        Inspector inspector = keeper().inspector();
        DistributedReadWriteLock both = keeper.readWriteLock(name());
        Lease reader = both.readLock().acquire();
        Sequencer sequencer = reader.sequencer();
        assertThat(sequencer.mode()).isEqualTo(Mode.SHARED);
        assertThat(inspector.check(sequencer)).isTrue();
        assertThat(inspector.check(new Sequencer(name(), Mode.EXCLUSIVE, reader.token())))
                .isFalse();
        assertThat(reader.release()).isTrue();
        assertThat(inspector.check(sequencer)).isFalse();
    }

    @Test
    void aWatchReportsHoldersThatComeAndGo() throws Exception {
        Lockkeeper keeper = keeper();
        Queue<LockInfo> told = new ConcurrentLinkedQueue<>();
        AutoCloseable watch = keeper().inspector().watch(name("w"), told::add);
        Lease lease = keeper.lock(name("w1")).acquire();
        Lease unseen = keeper.lock(name("x")).acquire();
        await("the hold is reported", () -> last(told)
                .filter(i -> i.holders().size() == 1 && i.holders().get(0).token() == lease.token())
                .isPresent());
        CompletableFuture<Lease> waits = keeper().lock(name("w1")).acquireAsync();
        if (keeper.guarantees().has(Guarantee.FAIR)) {
            await(
                    "the waiter is reported",
                    () -> last(told).filter(i -> i.waiters() == 1).isPresent());
        }
        assertThat(lease.release()).isTrue();
        Lease next = get(waits);
        await("the new holder is reported", () -> last(told)
                .filter(i -> i.holders().size() == 1 && i.holders().get(0).token() == next.token())
                .isPresent());
        assertThat(next.release()).isTrue();
        await("the end is reported", () -> last(told)
                .filter(i -> i.holders().isEmpty() && i.waiters() == 0)
                .isPresent());
        assertThat(told).allMatch(info -> info.name().equals(name("w1")));
        assertThat(unseen.release()).isTrue();
        watch.close();
        int before = told.size();
        Queue<LockInfo> witness = new ConcurrentLinkedQueue<>();
        closing(keeper.inspector().watch(name("w"), witness::add));
        closing(keeper.lock(name("w2")).acquire());
        await("another watch sees it", () -> !witness.isEmpty());
        assertThat(told).as("a closed watch tells nothing").hasSize(before);
    }

    private static Optional<LockInfo> last(Queue<LockInfo> told) {
        return told.stream().reduce((a, b) -> b);
    }

    @Test
    void aWatcherThatThrowsIsNotifiedAgain() throws Exception {
        Lockkeeper keeper = keeper();
        Queue<String> told = new ConcurrentLinkedQueue<>();
        closing(keeper().inspector().watch(name(""), info -> {
            told.add(info.name());
            throw new IllegalStateException("thrown by a test, to be logged");
        }));
        closing(keeper.lock(name("one")).acquire());
        await("notified", () -> told.contains(name("one")));
        closing(keeper.lock(name("two")).acquire());
        await("notified again", () -> told.contains(name("two")));
    }

    @Test
    void anUnreachableStoreIsAnErrorAndNotAnEmptyAnswer() throws Exception {
        FaultyStore store = faulty();
        Lockkeeper keeper = closing(Lockkeeper.builder(store)
                .operationTimeout(Duration.ofMillis(500))
                .build());
        Inspector inspector = keeper.inspector();
        Lease lease = keeper.lock(name()).acquire();
        Sequencer sequencer = lease.sequencer();
        store.down();
        unavailable(() -> inspector.inspect(name()));
        unavailable(() -> inspector.list("", 1));
        unavailable(() -> inspector.check(sequencer));
        unavailable(() -> inspector.breakHold(name(), sequencer.token(), Duration.ZERO));
        unavailable(() -> keeper.lock(name()).isLocked());
        unavailable(() -> keeper.election(name()).leader());
        store.up();
        assertThat(inspector.check(sequencer)).isTrue();
        assertThat(lease.release()).isTrue();
    }

    private static void unavailable(ThrowingCallable use) {
        assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(use);
    }
}
