// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck.keeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.lockkeeper.Guarantee;
import io.lockkeeper.KeeperListener;
import io.lockkeeper.LeaderElection;
import io.lockkeeper.Lease;
import io.lockkeeper.LeaseLost;
import io.lockkeeper.LockInfo;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.tck.support.HandleContract;
import io.lockkeeper.testkit.FaultyStore;
import io.lockkeeper.testkit.StepKind;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * H87: user code that blocks, or throws anything at all, harms nobody else: holders are notified of losses, futures complete,
 * holds are renewed, and the next event reaches the code that failed.
 */
public abstract class CallbackContract extends HandleContract {
    /** More than any fixed number of threads that callbacks might share. */
    private static final int CROWD = 100;

    private final Queue<String> events = new ConcurrentLinkedQueue<>();
    private final AtomicInteger blocked = new AtomicInteger();
    private FaultyStore store;
    private Lockkeeper keeper;
    private Lockkeeper other;
    private CountDownLatch end;

    /** What user code may throw. */
    enum Thrown {
        UNCHECKED,
        UNDECLARED,
        ERROR,
        INTERRUPTED;

        RuntimeException now() {
            throw HandleContract.<RuntimeException>sneak(
                    switch (this) {
                        case UNCHECKED -> new IllegalStateException("injected");
                        case UNDECLARED -> new IOException("injected, and declared nowhere");
                        case ERROR -> new OutOfMemoryError("injected");
                        case INTERRUPTED -> new InterruptedException("injected, and declared nowhere");
                    });
        }
    }

    /** Notes the names of what was lost, acquired and released. */
    private class Listener implements KeeperListener {
        @Override
        public void acquired(Lease lease, Duration waited) {
            events.add("acquired " + lease.name());
        }

        @Override
        public void notAcquired(String name, Duration waited) {
            events.add("notAcquired " + name);
        }

        @Override
        public void released(String name, long token, Duration held) {
            events.add("released " + name);
        }

        @Override
        public void lost(LeaseLost loss) {
            events.add("lost " + loss.name());
        }
    }

    @BeforeEach
    final void keepers() {
        end = blockage();
        store = faulty();
        keeper = closing(Lockkeeper.builder(store).listener(new Listener()).build());
        other = keeper();
    }

    private void blockHere() {
        blocked.incrementAndGet();
        block(end);
    }

    private LockOptions renewedOften() {
        return LockOptions.defaults().lease(longer(Duration.ofMillis(2_500), keeper));
    }

    /** While user code blocks, everything else goes on. */
    private void othersGoOn(Lockkeeper with, FaultyStore its, boolean listens) throws Exception {
        Lease kept = with.lock(name("kept"), renewedOften()).acquire();
        its.resetCounts();

        CompletableFuture<LeaseLost> told = new CompletableFuture<>();
        Lease lost = with.lock(name("lost"), renewedOften()).acquire().onLost(told::complete);
        lose(lost, other);
        assertThat(get(told).token()).as("the holder is notified").isEqualTo(lost.token());
        if (listens) {
            await("the listener is notified", () -> events.contains("lost " + name("lost")));
        }

        CountDownLatch never = new CountDownLatch(1);
        CompletableFuture<Lease> held = new CompletableFuture<>();
        Future<Boolean> interrupted = async(() -> {
            Lease mine =
                    with.lock(name("interrupted"), renewedOften()).acquire().interruptOnLoss();
            held.complete(mine);
            try {
                never.await();
                return false;
            } catch (InterruptedException e) {
                return true;
            }
        });
        lose(get(held), other);
        assertThat(get(interrupted)).as("the holder is interrupted").isTrue();

        Lease busy = other.lock(name("busy")).acquire();
        CompletableFuture<Boolean> next =
                with.lock(name("busy"), renewedOften()).acquireAsync().thenApply(Lease::release);
        awaitQueued(other, name("busy"), 1);
        assertThat(busy.release()).isTrue();
        assertThat(get(next)).as("a future completes").isTrue();

        await("renewals go on", () -> its.count(StepKind.RENEW) >= 2);
        assertThat(kept.isValid()).isTrue();
        assertThat(kept.release()).isTrue();
    }

    @Test
    void lossActionsThatBlockHarmNobody() throws Exception {
        Lease lease = keeper.lock(name(), renewedOften()).acquire();
        for (int i = 0; i < CROWD; i++) {
            lease.onLost(loss -> blockHere());
        }
        lose(lease, other);
        await("they block", () -> blocked.get() > 0);
        othersGoOn(keeper, store, true);
    }

    @Test
    void continuationsThatBlockHarmNobody() throws Exception {
        List<Lease> held = new ArrayList<>();
        List<CompletableFuture<?>> waits = new ArrayList<>();
        for (int i = 0; i < CROWD; i++) {
            held.add(other.lock(name("b" + i)).acquire());
        }
        for (int i = 0; i < CROWD; i++) {
            waits.add(keeper.lock(name("b" + i), outlasting()).acquireAsync().thenAccept(lease -> blockHere()));
        }
        awaitQueued(other, name("b" + (CROWD - 1)), 1);
        for (Lease each : held) {
            assertThat(each.release()).isTrue();
        }
        await("they are granted", () -> other.lock(name("b" + (CROWD - 1))).isLocked());
        await("they block", () -> blocked.get() > 0);
        othersGoOn(keeper, store, true);
        assertThat(waits).noneMatch(CompletableFuture::isDone);
    }

    @Test
    void watchersThatBlockHarmNobody() throws Exception {
        Set<String> seen = ConcurrentHashMap.newKeySet();
        closing(keeper.inspector().watch(name("w"), info -> blockHere()));
        List<Lease> held = new ArrayList<>();
        for (int i = 0; i < CROWD; i++) {
            held.add(other.lock(name("w" + i)).acquire());
        }
        await("they block", () -> blocked.get() > 0);
        closing(keeper.inspector().watch(name("v"), info -> seen.add(info.name())));
        for (int i = 0; i < CROWD; i++) {
            held.add(other.lock(name("v" + i)).acquire());
        }
        await("another watcher sees its changes", () -> seen.size() == CROWD);
        othersGoOn(keeper, store, true);
        for (Lease each : held) {
            assertThat(each.release()).isTrue();
        }
    }

    @Test
    void leadersThatBlockHarmNobody() throws Exception {
        List<LeaderElection> elections = new ArrayList<>();
        for (int i = 0; i < CROWD; i++) {
            elections.add(keeper.election(name("e" + i), outlasting()).start(lease -> blockHere()));
        }
        await("they block", () -> blocked.get() == CROWD);
        othersGoOn(keeper, store, true);
        assertThat(elections).allMatch(LeaderElection::isLeader);
        end.countDown();
        elections.parallelStream().forEach(LeaderElection::close);
    }

    @Test
    void aListenerThatBlocksHarmsNobody() throws Exception {
        FaultyStore its = faulty();
        Lockkeeper mine = closing(Lockkeeper.builder(its)
                .listener(new KeeperListener() {
                    @Override
                    public void acquired(Lease lease, Duration waited) {
                        blockHere();
                    }
                })
                .build());
        for (int i = 0; i < CROWD; i++) {
            assertThat(mine.lock(name()).acquire().release()).isTrue();
        }
        await("it blocks", () -> blocked.get() > 0);
        othersGoOn(mine, its, false);
    }

    @Test
    void bodiesThatBlockHarmNobody() throws Exception {
        for (int i = 0; i < CROWD; i++) {
            String name = name("t" + i);
            Future<?> calls = async(() -> keeper.lock(name, outlasting()).tryCall(LONG, lease -> {
                blockHere();
                return true;
            }));
            assertThat(calls).isNotCancelled();
        }
        await("they block", () -> blocked.get() == CROWD);
        othersGoOn(keeper, store, true);
    }

    /** Throws at the first event of each kind. */
    private final class ListenerThatThrows extends Listener {
        private final Thrown thrown;
        private final AtomicInteger failed;

        ListenerThatThrows(Thrown thrown, AtomicInteger failed) {
            this.thrown = thrown;
            this.failed = failed;
        }

        private void fail(String event) {
            if (events.stream().filter(event::equals).count() == 1) {
                failed.incrementAndGet();
                throw thrown.now();
            }
        }

        @Override
        public void acquired(Lease lease, Duration waited) {
            super.acquired(lease, waited);
            fail("acquired " + lease.name());
        }

        @Override
        public void notAcquired(String name, Duration waited) {
            super.notAcquired(name, waited);
            fail("notAcquired " + name);
        }

        @Override
        public void released(String name, long token, Duration held) {
            super.released(name, token, held);
            fail("released " + name);
        }

        @Override
        public void lost(LeaseLost loss) {
            super.lost(loss);
            fail("lost " + loss.name());
        }
    }

    @ParameterizedTest
    @EnumSource(Thrown.class)
    void aListenerThatThrowsGetsTheNextEvent(Thrown thrown) throws Exception {
        AtomicInteger failed = new AtomicInteger();
        Lockkeeper mine = closing(Lockkeeper.builder(store())
                .listener(new ListenerThatThrows(thrown, failed))
                .build());
        for (int i = 1; i <= 2; i++) {
            Lease lease = mine.lock(name(), renewedOften()).acquire();
            assertThat(mine.lock(name()).tryAcquire()).isEmpty();
            assertThat(lease.release()).isTrue();
            lose(mine.lock(name(), renewedOften()).acquire(), other);
            long times = i;
            for (String event : List.of("notAcquired ", "released ", "lost ")) {
                await(
                        event + times,
                        () -> events.stream()
                                        .filter(e -> e.equals(event + name()))
                                        .count()
                                == times);
            }
        }
        assertThat(failed).hasValue(4);
    }

    @ParameterizedTest
    @EnumSource(Thrown.class)
    void aLossActionThatThrowsKeepsNoneFromTheOthers(Thrown thrown) throws Exception {
        for (int i = 0; i < 2; i++) {
            CompletableFuture<LeaseLost> told = new CompletableFuture<>();
            Lease lease = keeper.lock(name("l" + i), renewedOften()).acquire();
            lease.onLost(loss -> {
                throw thrown.now();
            });
            lease.onLost(told::complete);
            lease.onLost(loss -> {
                throw thrown.now();
            });
            lose(lease, other);
            assertThat(get(told).token()).isEqualTo(lease.token());
            String event = "lost " + lease.name();
            await("the listener is notified", () -> events.contains(event));
        }
    }

    @ParameterizedTest
    @EnumSource(Thrown.class)
    void aContinuationThatThrowsHarmsNobody(Thrown thrown) throws Exception {
        Lease held = other.lock(name()).acquire();
        CompletableFuture<Lease> waits = keeper.lock(name(), outlasting()).acquireAsync();
        CompletableFuture<Object> fails = waits.thenApply(lease -> {
            throw thrown.now();
        });
        awaitQueued(other, name(), 1);
        assertThat(held.release()).isTrue();
        assertThat(failure(fails)).isNotNull();
        assertThat(get(waits).release()).isTrue();
        assertThat(isFree(other.lock(name()))).isTrue();
        await("the listener is notified", () -> events.contains("released " + name()));
    }

    @ParameterizedTest
    @EnumSource(Thrown.class)
    void aLeaderThatThrowsIsACandidateAgain(Thrown thrown) throws Exception {
        AtomicInteger terms = new AtomicInteger();
        LeaderElection election = closing(keeper.election(name(), outlasting()));
        election.start(lease -> {
            if (terms.incrementAndGet() <= 2) {
                throw thrown.now();
            }
            blockHere();
        });
        await("it leads again", () -> terms.get() == 3 && election.isLeader());
        end.countDown();
    }

    @ParameterizedTest
    @EnumSource(Thrown.class)
    void aWatcherThatThrowsSeesTheNextChange(Thrown thrown) throws Exception {
        Queue<LockInfo> seen = new ConcurrentLinkedQueue<>();
        closing(keeper.inspector().watch(name(), info -> {
            seen.add(info);
            throw thrown.now();
        }));
        Lease lease = other.lock(name()).acquire();
        await("it sees the hold", () -> seen.stream().anyMatch(i -> !i.holders().isEmpty()));
        assertThat(lease.release()).isTrue();
        await("it sees the release", () -> seen.stream()
                .anyMatch(i -> i.holders().isEmpty()));
    }

    @ParameterizedTest
    @EnumSource(Thrown.class)
    void aBodyThatThrowsReleasesTheLock(Thrown thrown) throws Exception {
        AtomicBoolean ran = new AtomicBoolean();
        Throwable got = catchThrowable(() -> keeper.lock(name(), outlasting()).tryCall(LONG, lease -> {
            ran.set(true);
            throw thrown.now();
        }));
        assertThat(ran).isTrue();
        assertThat(got).hasMessageStartingWith("injected");
        assertThat(isFree(other.lock(name()))).isTrue();
        if (keeper.guarantees().has(Guarantee.SHARED)) {
            assertThat(isFree(other.readWriteLock(name()).readLock())).isTrue();
        }
    }
}
