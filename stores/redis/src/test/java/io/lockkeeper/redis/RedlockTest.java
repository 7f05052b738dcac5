// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lockkeeper.DistributedLock;
import io.lockkeeper.DistributedReadWriteLock;
import io.lockkeeper.Guarantee;
import io.lockkeeper.Lease;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.testservers.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A quorum of real servers, by its URL. */
class RedlockTest {
    private static final String PATIENT = "?operationTimeout=10s&memberTimeout=1s";

    private final List<RedisServer> servers = new ArrayList<>();

    @BeforeEach
    void start() {
        for (int i = 0; i < 3; i++) {
            servers.add(RedisServer.start());
        }
    }

    @AfterEach
    void end() {
        servers.forEach(RedisServer::close);
    }

    private Lockkeeper connect() {
        return Lockkeeper.connect(RedlockFixture.url(servers) + PATIENT);
    }

    /** One that soon gives up. */
    private Lockkeeper impatient() {
        return Lockkeeper.connect(RedlockFixture.url(servers) + "?operationTimeout=2s&memberTimeout=500ms");
    }

    private Admin admin(int member) {
        return new Admin(servers.get(member));
    }

    @Test
    void locksReadWriteLocksAndMultiLocksWork() throws Exception {
        try (Lockkeeper a = connect();
                Lockkeeper b = connect()) {
            a.guarantees().require(Guarantee.FENCED, Guarantee.SHARED, Guarantee.LOCK_DELAY);
            Lease first = a.lock("x").acquire();
            assertThat(b.lock("x").tryAcquire()).isEmpty();
            assertThat(b.inspector().check(first.sequencer())).isTrue();
            assertThat(b.inspector().inspect("x").orElseThrow().holders())
                    .singleElement()
                    .satisfies(hold -> assertThat(hold.token()).isEqualTo(first.token()));
            assertThat(first.release()).isTrue();
            try (Lease next = b.lock("x").acquire()) {
                assertThat(next.token()).isGreaterThan(first.token());
            }
            DistributedReadWriteLock here = a.readWriteLock("rw");
            try (Lease one = here.readLock().acquire();
                    Lease two = b.readWriteLock("rw").readLock().acquire()) {
                assertThat(one.token()).isNotEqualTo(two.token());
                assertThat(here.writeLock().tryAcquire()).isEmpty();
            }
            try (Lease all = DistributedLock.all(a.lock("m1"), a.lock("m2")).acquire()) {
                assertThat(all.parts()).hasSize(2);
                assertThat(b.lock("m2").isLocked()).isTrue();
            }
            assertThatThrownBy(() -> a.semaphore("s", 3)).hasMessageContaining("PERMITS");
            assertThatThrownBy(() -> a.latch("l")).hasMessageContaining("LATCH");
        }
        for (int i = 0; i < 3; i++) {
            Admin admin = admin(i);
            Admin.await("only the marker is left", () -> admin.keys()
                    .equals(List.of(Admin.text(
                            new Keys("lockkeeper").ofLatch("lockkeeper-quorum").get(0)))));
        }
    }

    @Test
    void aQuorumBeginsWhileAMinorityIsDownAndTakesItInWhenItIsBack() throws Exception {
        try (Lockkeeper first = connect()) {
            assertThat(first.lock("x").acquire().release()).isTrue(); // marks all members
        }
        servers.get(1).stop();
        try (Lockkeeper keeper = connect()) {
            Lease lease = keeper.lock("x", LockOptions.defaults().lease(Duration.ofSeconds(6)))
                    .acquire();
            assertThat(lease.isValid()).isTrue();
            servers.get(1).restart();
            Admin.await("it holds the lock, too", () -> admin(1).keys().stream().anyMatch(key -> key.endsWith(":n:x")));
            assertThat(lease.release()).isTrue();
        }
    }

    @Test
    void aMajorityThatIsDownIsAnErrorThatSaysWhyOfEachMember() throws Exception {
        try (Lockkeeper keeper = connect()) {
            assertThat(keeper.lock("x").acquire().release()).isTrue();
        }
        try (Lockkeeper keeper = impatient()) {
            servers.get(0).kill();
            servers.get(2).kill();
            assertThatThrownBy(() -> keeper.lock("x").acquire())
                    .isInstanceOf(StoreUnavailableException.class)
                    .hasMessageContaining("member 1: ")
                    .hasMessageContaining("member 2: answered")
                    .hasMessageContaining("member 3: ");
        }
    }

    @Test
    void aWrongPasswordIsAnErrorAtOnceAndNotShown() throws Exception {
        for (RedisServer server : servers) {
            new Admin(server).ask("CONFIG", "SET", "requirepass", "right");
        }
        String hosts = RedlockFixture.url(servers).substring("redlock://".length());
        try (Lockkeeper keeper = Lockkeeper.connect("redlock://:right@" + hosts + PATIENT)) {
            assertThat(keeper.lock("x").acquire().release()).isTrue();
        }
        try (Lockkeeper keeper = Lockkeeper.connect("redlock://:hunter2@" + hosts + PATIENT)) {
            assertThat(keeper.toString()).doesNotContain("hunter2");
            assertThatThrownBy(() -> keeper.lock("x").acquire())
                    .isInstanceOfSatisfying(StoreUnavailableException.class, e -> {
                        assertThat(e.worthRepeating()).isFalse();
                        assertThat(e.getMessage()).doesNotContain("hunter2");
                    });
        }
    }

    @Test
    void stepsOfAnUncontendedCycleAreCounted() throws Exception {
        try (Lockkeeper keeper = connect()) {
            assertThat(keeper.lock("x").acquire().release()).isTrue();
            admin(0).resetStatistics();
            int cycles = 50;
            for (int i = 0; i < cycles; i++) {
                assertThat(keeper.lock("x").acquire().release()).isTrue();
            }
            Map<String, Long> sent = admin(0).sent();
            assertThat(sent.getOrDefault("evalsha", 0L))
                    .as("claim, look at the marker, write back; release: %s", sent)
                    .isBetween(3L * cycles, 4L * cycles + 20);
        }
    }

    @Test
    void manyClientsTakeTurnsAndTokensRise() throws Exception {
        AtomicInteger inside = new AtomicInteger();
        Set<Long> tokens = ConcurrentHashMap.newKeySet();
        List<Throwable> failures = new ArrayList<>();
        List<Thread> threads = new ArrayList<>();
        long[] last = new long[1];
        for (int i = 0; i < 6; i++) {
            Thread thread = new Thread(() -> {
                try (Lockkeeper keeper = connect()) {
                    for (int turn = 0; turn < 5; turn++) {
                        try (Lease lease = keeper.lock("x").acquire()) {
                            assertThat(inside.incrementAndGet()).isEqualTo(1);
                            assertThat(lease.token()).isGreaterThan(last[0]);
                            last[0] = lease.token();
                            tokens.add(lease.token());
                            inside.decrementAndGet();
                        }
                    }
                } catch (Throwable e) {
                    synchronized (failures) {
                        failures.add(e);
                    }
                }
            });
            thread.start();
            threads.add(thread);
        }
        for (Thread thread : threads) {
            thread.join(Admin.LONG.toMillis());
        }
        assertThat(failures).isEmpty();
        assertThat(new HashSet<>(tokens)).hasSize(30);
    }
}
