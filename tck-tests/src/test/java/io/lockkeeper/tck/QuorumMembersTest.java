// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lockkeeper.DistributedLock;
import io.lockkeeper.Guarantee;
import io.lockkeeper.Guarantees;
import io.lockkeeper.Lease;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.memory.MemoryCore;
import io.lockkeeper.memory.MemoryStore;
import io.lockkeeper.quorum.QuorumOptions;
import io.lockkeeper.quorum.QuorumStore;
import io.lockkeeper.spi.LockStore;
import io.lockkeeper.spi.Promises;
import io.lockkeeper.spi.StoreUrl;
import io.lockkeeper.tck.support.Contract;
import io.lockkeeper.testkit.ForwardingStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** What a quorum may be made of, and what is refused. */
class QuorumMembersTest {
    private static final QuorumOptions OPTIONS = QuorumOptions.defaults();
    private static final Duration CONNECTING = Duration.ofSeconds(20);

    private static MemoryStore memory() {
        return new MemoryStore(MemoryCore.system());
    }

    private static List<MemoryStore> memories(int size) {
        List<MemoryStore> stores = new ArrayList<>();
        for (int i = 0; i < size; i++) {
            stores.add(memory());
        }
        return stores;
    }

    private static LockStore without(Guarantee denied) {
        return new ForwardingStore(memory()) {
            @Override
            public Guarantees guarantees() {
                return new Promises(EnumSet.complementOf(EnumSet.of(denied)), Duration.ofMillis(100));
            }
        };
    }

    @Test
    void aStoreThatCannotRaiseTokensOrHasNoPlaceForAMarkerIsRefusedWithTheReason() {
        for (Guarantee needed : List.of(Guarantee.RAISES_TOKENS, Guarantee.LATCH)) {
            List<LockStore> members = List.of(memory(), without(needed), memory());
            assertThatThrownBy(() -> QuorumStore.of(members, OPTIONS))
                    .isInstanceOf(UnsupportedOperationException.class)
                    .hasMessageContaining("member 2")
                    .hasMessageContaining(needed.name());
        }
    }

    @Test
    void tooFewTooManyOrTheSameTwiceAreRefused() {
        for (int size : new int[] {0, 1, 2, 8}) {
            assertThatThrownBy(() -> QuorumStore.of(memories(size), OPTIONS))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("3 to 7");
        }
        MemoryStore twice = memory();
        assertThatThrownBy(() -> QuorumStore.of(List.of(twice, memory(), twice), OPTIONS))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("twice");
    }

    @Test
    void optionsOutOfRangeAreRefused() {
        assertThatThrownBy(() -> OPTIONS.longestLease(Duration.ofMillis(1_500)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("whole seconds");
        assertThatThrownBy(() -> OPTIONS.longestLease(Duration.ofDays(2)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("PT25H");
        QuorumOptions fromUrl =
                QuorumOptions.of(StoreUrl.parse("redlock://a,b,c?operationTimeout=2s&longestLease=5m&clockLead=2s"));
        assertThat(fromUrl)
                .isEqualTo(new QuorumOptions(Duration.ofMillis(500), Duration.ofMinutes(5), Duration.ofSeconds(2)));
    }

    @Test
    void featuresThatAQuorumCannotGiveAreRefused() {
        try (QuorumStore store = QuorumStore.of(memories(3), OPTIONS);
                Lockkeeper keeper = Lockkeeper.on(store)) {
            assertThatThrownBy(() -> keeper.semaphore("a", 2))
                    .isInstanceOf(UnsupportedOperationException.class)
                    .hasMessageContaining("PERMITS");
            assertThatThrownBy(() -> keeper.latch("a"))
                    .isInstanceOf(UnsupportedOperationException.class)
                    .hasMessageContaining("LATCH");
            for (Guarantee denied :
                    List.of(Guarantee.FAIR, Guarantee.PUSH, Guarantee.FAILOVER_SAFE, Guarantee.RAISES_TOKENS)) {
                assertThat(keeper.guarantees().has(denied)).as(denied.name()).isFalse();
            }
            keeper.guarantees().require(Guarantee.FENCED, Guarantee.SHARED, Guarantee.LOCK_DELAY);
        }
    }

    @Test
    void aLeaseLongerThanTheLongestIsRefusedAndLeavesNothing() throws Exception {
        List<MemoryStore> members = memories(3);
        try (QuorumStore store = QuorumStore.of(members, OPTIONS);
                Lockkeeper keeper = Lockkeeper.on(store)) {
            assertThat(keeper.lock("a").acquire().release()).isTrue();
            LockOptions tooLong = LockOptions.defaults().lease(Duration.ofSeconds(61));
            LockOptions withDelay =
                    LockOptions.defaults().lease(Duration.ofSeconds(30)).lockDelay(Duration.ofSeconds(31));
            for (LockOptions refused : List.of(tooLong, withDelay)) {
                assertThatThrownBy(() -> keeper.lock("b", refused).acquire())
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessageContaining("PT1M1S")
                        .hasMessageContaining("PT1M ");
            }
            assertThatThrownBy(() -> keeper.lock("b", LockOptions.defaults().fixedLease(Duration.ofMillis(300)))
                            .acquire())
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("shortestLease");
            assertThat(members).allMatch(member -> member.inspect("b").isEmpty());
        }
    }

    @Test
    void aClientThatListsOtherMembersOrAnotherOrderOrLeaseIsRefused() throws Exception {
        List<MemoryStore> members = memories(3);
        try (QuorumStore store = QuorumStore.of(members, OPTIONS);
                Lockkeeper keeper = Lockkeeper.on(store)) {
            assertThat(keeper.lock("a").acquire().release()).isTrue();
            List<MemoryStore> swapped = List.of(members.get(1), members.get(0), members.get(2));
            List<MemoryStore> more = new ArrayList<>(members);
            more.addAll(memories(2));
            isRefused(QuorumStore.of(swapped, OPTIONS));
            isRefused(QuorumStore.of(more, OPTIONS));
            isRefused(QuorumStore.of(members, OPTIONS.longestLease(Duration.ofSeconds(90))));
            assertThat(keeper.lock("a").acquire().release()).isTrue();
        }
    }

    private static void isRefused(QuorumStore store) {
        try (store;
                Lockkeeper keeper = Lockkeeper.on(store)) {
            assertThatThrownBy(() -> keeper.lock("a").acquire())
                    .isInstanceOfSatisfying(StoreUnavailableException.class, e -> assertThat(e.worthRepeating())
                            .isFalse())
                    .hasMessageContaining("same order");
        }
    }

    @Test
    void clientsThatBeginAtTheSameTimeAgreeOnTheQuorum() throws Exception {
        for (int round = 0; round < 20; round++) {
            List<MemoryStore> members = memories(5);
            List<QuorumStore> clients = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                clients.add(QuorumStore.of(members, OPTIONS));
            }
            ExecutorService threads = Executors.newCachedThreadPool();
            List<Future<Boolean>> all = new ArrayList<>();
            for (QuorumStore client : clients) {
                all.add(threads.submit(() -> {
                    try (Lockkeeper keeper = Lockkeeper.on(client)) {
                        return keeper.lock("a").acquire().release();
                    }
                }));
            }
            for (Future<Boolean> one : all) {
                assertThat(one.get(30, TimeUnit.SECONDS)).isTrue();
            }
            assertThat(clients.stream().map(QuorumStore::id).distinct()).hasSize(1);
            clients.forEach(QuorumStore::close);
            threads.shutdown();
        }
    }

    @Test
    void aQuorumBeginsAlsoWhenAMemberCannotBeOpenedYet() throws Exception {
        MemoryStore[] memories = memories(3).toArray(MemoryStore[]::new);
        try (QuorumStore first = QuorumStore.of(List.of(memories), OPTIONS);
                Lockkeeper keeper = Lockkeeper.on(first)) {
            assertThat(keeper.lock("a").acquire().release()).isTrue();
        }
        AtomicInteger attempts = new AtomicInteger();
        AtomicInteger closed = new AtomicInteger();
        List<Supplier<LockStore>> openers = new ArrayList<>();
        for (MemoryStore memory : memories) {
            openers.add(() -> {
                if (memory == memories[1] && attempts.incrementAndGet() <= 2) {
                    throw new StoreUnavailableException("connection refused", null);
                }
                return new ForwardingStore(memory) {
                    @Override
                    public void close() {
                        closed.incrementAndGet();
                    }
                };
            });
        }
        try (QuorumStore store = QuorumStore.opening(openers, memories[0].guarantees(), OPTIONS, CONNECTING);
                Lockkeeper keeper = Lockkeeper.on(store)) {
            for (int i = 0; i < 5; i++) {
                assertThat(keeper.lock("a").acquire().release()).isTrue();
            }
            assertThat(attempts).as("until it could be opened, and not again").hasValue(3);
            assertThat(closed).hasValue(0);
        }
        assertThat(closed).as("what it has opened it closes").hasValue(3);
    }

    @Test
    void aMemberThatIsSlowToOpenDelaysNeitherOpeningNorClosing() throws Exception {
        MemoryStore[] memories = memories(3).toArray(MemoryStore[]::new);
        try (QuorumStore first = QuorumStore.of(List.of(memories), OPTIONS);
                Lockkeeper keeper = Lockkeeper.on(first)) {
            assertThat(keeper.lock("a").acquire().release()).isTrue();
        }
        CountDownLatch reachable = new CountDownLatch(1);
        CountDownLatch closed = new CountDownLatch(1);
        List<Supplier<LockStore>> openers = new ArrayList<>();
        openers.add(() -> memories[0]);
        openers.add(() -> memories[1]);
        openers.add(() -> {
            awaitLatch(reachable);
            return new ForwardingStore(memories[2]) {
                @Override
                public void close() {
                    closed.countDown();
                }
            };
        });
        QuorumStore store = QuorumStore.opening(openers, memories[0].guarantees(), OPTIONS, CONNECTING);
        try (Lockkeeper keeper = Lockkeeper.on(store)) { // which listens to all members
            assertThat(keeper.lock("a").acquire().release()).isTrue();
        }
        store.close();
        reachable.countDown();
        assertThat(closed.await(30, TimeUnit.SECONDS))
                .as("opened too late, it is closed at once")
                .isTrue();
    }

    private static void awaitLatch(CountDownLatch latch) {
        try {
            assertThat(latch.await(30, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void aFreshQuorumHasTheIdThatItWillHave() throws Exception {
        try (QuorumStore store = QuorumStore.of(memories(3), OPTIONS);
                Lockkeeper keeper = Lockkeeper.on(store)) {
            String id = store.id();
            assertThat(keeper.lock("a").acquire().release()).isTrue();
            assertThat(store.id()).isEqualTo(id);
            try (QuorumStore other = QuorumStore.of(memories(3), OPTIONS)) {
                assertThat(List.of(other.id(), "quorum-0"))
                        .as("not one number for all")
                        .isNotEqualTo(List.of(id, id));
            }
        }
    }

    @Test
    void theMembersOfAKeeperOfAQuorumAreNotClosedWithItAndNoThreadIsLeft() throws Exception {
        List<Lockkeeper> members = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            members.add(Lockkeeper.connect("memory:"));
        }
        Lockkeeper quorum = Lockkeeper.quorumBuilder(members.toArray(Lockkeeper[]::new))
                .clientName("q")
                .build();
        Lease lease = quorum.lock("a").acquire();
        assertThat(members).allMatch(member -> member.lock("a").isLocked());
        assertThat(quorum.inspector().check(lease.sequencer())).isTrue();
        assertThat(quorum.inspector()
                        .inspect("a")
                        .orElseThrow()
                        .holders()
                        .get(0)
                        .client())
                .isEqualTo("q");
        quorum.close();
        assertThat(lease.isValid()).isFalse();
        Contract.await("no thread is left", () -> Thread.getAllStackTraces().keySet().stream()
                .noneMatch(thread -> thread.getName().startsWith("lockkeeper-q-")));
        for (Lockkeeper member : members) {
            assertThat(member.lock("a").acquire().release()).isTrue();
            member.close();
        }
    }

    @Test
    @DisplayName("K14: many clients that vote at once all get their turn")
    void manyClientsThatVoteAtOnceAllGetTheirTurn() throws Exception {
        int clients = Tier.pick(20, 50);
        List<MemoryStore> members = memories(5);
        List<QuorumStore> stores = new ArrayList<>();
        AtomicInteger inside = new AtomicInteger();
        List<Callable<Long>> attempts = new ArrayList<>();
        for (int i = 0; i < clients; i++) {
            QuorumStore store = QuorumStore.of(members, OPTIONS);
            stores.add(store);
            attempts.add(() -> {
                try (Lockkeeper keeper = Lockkeeper.on(store)) {
                    DistributedLock lock = keeper.lock("a");
                    try (Lease lease = lock.acquire()) {
                        assertThat(inside.incrementAndGet()).isEqualTo(1);
                        inside.decrementAndGet();
                        return lease.token();
                    }
                }
            });
        }
        ExecutorService threads = Executors.newCachedThreadPool();
        List<Long> tokens = new ArrayList<>();
        for (Future<Long> one : threads.invokeAll(attempts, 60, TimeUnit.SECONDS)) {
            tokens.add(one.get());
        }
        threads.shutdown();
        assertThat(tokens).hasSize(clients).doesNotHaveDuplicates();
        stores.forEach(QuorumStore::close);
    }
}
