// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.lockkeeper.Lockkeeper;
import io.lockkeeper.Mode;
import io.lockkeeper.spi.Answer;
import io.lockkeeper.spi.Claim;
import io.lockkeeper.spi.ClaimId;
import io.lockkeeper.spi.Grant;
import io.lockkeeper.spi.Signals;
import io.lockkeeper.spi.Terms;
import io.lockkeeper.testservers.ZooKeeperServer;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.listen.Listenable;
import org.apache.curator.framework.state.ConnectionStateListener;
import org.apache.curator.retry.RetryOneTime;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The store's own threads, without which nothing is kept: they go on whatever is thrown on them (H65, H75, H93). */
class OwnThreadsTest {
    private static final Duration LONG = Duration.ofSeconds(60);
    private static final int SESSION_MILLIS = 6_000;

    private static ZooKeeperServer server;

    @BeforeAll
    static void start() {
        server = ZooKeeperServer.start();
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    private static final class Expected extends LinkageError {
        private static final long serialVersionUID = 1;

        Expected() {
            super("a class of the application is missing (as the test wants it)");
        }
    }

    private static CuratorFramework curator() throws Exception {
        CuratorFramework curator =
                CuratorFrameworkFactory.newClient(server.address(), SESSION_MILLIS, 5_000, new RetryOneTime(100));
        curator.start();
        assertThat(curator.blockUntilConnected(60, TimeUnit.SECONDS)).isTrue();
        return curator;
    }

    /** A client whose method throws an {@code Error} that many times. */
    private static CuratorFramework failing(CuratorFramework client, String method, AtomicInteger times) {
        return (CuratorFramework) Proxy.newProxyInstance(
                OwnThreadsTest.class.getClassLoader(), new Class<?>[] {CuratorFramework.class}, (proxy, m, args) -> {
                    if (m.getName().equals(method) && times.getAndUpdate(n -> Math.max(0, n - 1)) > 0) {
                        throw new Expected();
                    }
                    try {
                        return m.invoke(client, args);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    /** Records its notifications, and throws an {@code Error} that many times before. */
    private static Signals signals(Queue<String> told, AtomicInteger times) {
        return (Signals) Proxy.newProxyInstance(
                OwnThreadsTest.class.getClassLoader(), new Class<?>[] {Signals.class}, (proxy, m, args) -> {
                    if (times.getAndUpdate(n -> Math.max(0, n - 1)) > 0) {
                        throw new Expected();
                    }
                    told.add(m.getName());
                    return null;
                });
    }

    private static Claim claim(ZooKeeperStore store, String name, ClaimId id, Duration patience) {
        Terms terms = new Terms(Mode.EXCLUSIVE, 1, 0, LONG, Duration.ZERO, patience, 1, true, "client", name);
        return new Claim(name, id, terms, store.time(store.lane(name)).plusMicros(60_000_000), false);
    }

    @Test
    void theSessionsThreadOutlivesAnErrorWhileItOpensASession() throws Exception {
        AtomicInteger times = new AtomicInteger(3);
        try (CuratorFramework client = curator();
                ZooKeeperStore store = ZooKeeperStore.of(failing(client, "getZookeeperClient", times));
                Lockkeeper keeper = Lockkeeper.builder(store)
                        .operationTimeout(Duration.ofSeconds(20))
                        .build()) {
            assertThat(keeper.lock("open").tryAcquire(LONG)).isPresent();
            assertThat(times).hasValue(0);
        }
    }

    @Test
    void theSessionsThreadOutlivesAnErrorWhileItEndsASession() throws Exception {
        AtomicInteger times = new AtomicInteger(1);
        Queue<String> throwing = new ConcurrentLinkedQueue<>();
        Queue<String> told = new ConcurrentLinkedQueue<>();
        try (CuratorFramework client = curator();
                ZooKeeperStore store = ZooKeeperStore.of(client);
                Lockkeeper other = Lockkeeper.connect("zookeeper://" + server.address() + "?operationTimeout=5s")) {
            ClaimId first = new ClaimId("client-end-1", 1);
            ClaimId second = new ClaimId("client-end-2", 1);
            store.listen(first.client(), signals(throwing, times));
            store.listen(second.client(), signals(told, new AtomicInteger()));
            assertThat(store.claim(claim(store, "end-1", first, LONG))).isInstanceOf(Answer.Granted.class);
            assertThat(store.claim(claim(store, "end-2", second, LONG))).isInstanceOf(Answer.Granted.class);
            client.delete()
                    .forPath(new Layout("/lockkeeper")
                            .mailbox(client.getZookeeperClient().getZooKeeper().getSessionId()));
            await().atMost(LONG).untilAsserted(() -> assertThat(told).contains("sessionLost"));
            assertThat(store.claim(claim(store, "end-1", new ClaimId("client-end-1", 2), LONG)))
                    .as("in a new session, and nothing is left of the old one")
                    .isInstanceOf(Answer.Granted.class);
            assertThat(other.lock("end-2").tryAcquire(LONG)).isPresent();
            assertThat(times).hasValue(0);
        }
    }

    @Test
    void theLookingThreadOutlivesAnErrorOfAListener() throws Exception {
        AtomicInteger times = new AtomicInteger(2);
        Queue<String> told = new ConcurrentLinkedQueue<>();
        try (CuratorFramework client = curator();
                ZooKeeperStore store = ZooKeeperStore.of(client)) {
            String listens = "client-look";
            store.listen(listens, signals(told, times));
            for (int i = 0; i < 3; i++) {
                String name = "look-" + i;
                Claim held = claim(store, name, new ClaimId("holder", i), LONG);
                Grant grant = Grant.of(held, (Answer.Granted) store.claim(held));
                assertThat(store.claim(claim(store, name, new ClaimId(listens, i), LONG)))
                        .isInstanceOf(Answer.Queued.class);
                assertThat(store.release(grant)).isTrue();
                int left = 1 - i;
                await().atMost(LONG).until(() -> times.get() == Math.max(0, left));
            }
            await().atMost(LONG).untilAsserted(() -> assertThat(told).contains("granted"));
        }
    }

    /** The first or the second thread cannot be started: the store is not there, and nothing of it is. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void aStoreWhoseThreadsCannotBeStartedLeavesNothing(int failing) throws Exception { // H65
        AtomicInteger listening = new AtomicInteger();
        AtomicInteger closed = new AtomicInteger();
        AtomicInteger asked = new AtomicInteger();
        Queue<Thread> threads = new ConcurrentLinkedQueue<>();
        ThreadFactory factory = task -> {
            boolean fails = asked.getAndIncrement() == failing;
            Thread thread = new Thread(task) {
                @Override
                public synchronized void start() {
                    if (fails) {
                        throw new OutOfMemoryError("unable to create native thread (as the test wants it)");
                    }
                    super.start();
                }
            };
            threads.add(thread);
            return thread;
        };
        try (CuratorFramework client = curator()) {
            CuratorFramework counting = counting(client, listening);
            assertThatThrownBy(() -> new ZooKeeperStore(
                            counting,
                            "/lockkeeper",
                            List.of(),
                            Duration.ofSeconds(20),
                            0,
                            session -> closed.incrementAndGet(),
                            factory))
                    .isInstanceOf(OutOfMemoryError.class);
            assertThat(threads).hasSize(2).noneMatch(Thread::isAlive);
            assertThat(listening).as("listeners of the client").hasValue(0);
            assertThat(closed).hasValue(1);
            try (ZooKeeperStore store = new ZooKeeperStore(
                            counting, "/lockkeeper", List.of(), Duration.ofSeconds(20), 0, session -> {}, factory);
                    Lockkeeper keeper = Lockkeeper.builder(store)
                            .operationTimeout(Duration.ofSeconds(20))
                            .build()) {
                assertThat(keeper.lock("threads").tryAcquire(LONG)).isPresent();
            }
        }
    }

    /** A client that says how many listen to its connection. */
    @SuppressWarnings("unchecked")
    private static CuratorFramework counting(CuratorFramework client, AtomicInteger listening) {
        Listenable<ConnectionStateListener> all = client.getConnectionStateListenable();
        Listenable<ConnectionStateListener> counted = (Listenable<ConnectionStateListener>) Proxy.newProxyInstance(
                OwnThreadsTest.class.getClassLoader(), new Class<?>[] {Listenable.class}, (proxy, m, args) -> {
                    listening.addAndGet(m.getName().startsWith("add") ? 1 : -1);
                    return m.invoke(all, args);
                });
        return (CuratorFramework) Proxy.newProxyInstance(
                OwnThreadsTest.class.getClassLoader(),
                new Class<?>[] {CuratorFramework.class},
                (proxy, m, args) ->
                        m.getName().equals("getConnectionStateListenable") ? counted : m.invoke(client, args));
    }

    /** Whoever throws at the end of one claim is not in the way of the ends of all others. */
    @Test
    void theLookingThreadEndsWhatIsOverdueThoughAListenerThrows() throws Exception {
        AtomicInteger times = new AtomicInteger(Integer.MAX_VALUE);
        Queue<String> told = new ConcurrentLinkedQueue<>();
        Queue<String> logged = new ConcurrentLinkedQueue<>();
        Handler broken = new Handler() {
            @Override
            public void publish(LogRecord message) {
                if (message.getThrown() instanceof Expected) {
                    logged.add(message.getMessage());
                    throw new Expected();
                }
            }

            @Override
            public void flush() {}

            @Override
            public void close() {}
        };
        Logger logger = Logger.getLogger("io.lockkeeper.zookeeper");
        logger.addHandler(broken);
        try (CuratorFramework client = curator();
                ZooKeeperStore store = ZooKeeperStore.of(client)) {
            Terms brief = new Terms(
                    Mode.EXCLUSIVE, 1, 0, Duration.ofSeconds(1), Duration.ZERO, LONG, 1, true, "client", "overdue");
            store.listen("client-throws", signals(told, times));
            store.listen("client-hears", signals(told, new AtomicInteger()));
            for (int i = 0; i < 10; i++) {
                for (String who : new String[] {"client-throws", "client-hears"}) {
                    String name = who + i;
                    Claim claim = new Claim(
                            name,
                            new ClaimId(who, i),
                            brief,
                            store.time(store.lane(name)).plusMicros(60_000_000),
                            false);
                    assertThat(store.claim(claim)).isInstanceOf(Answer.Granted.class);
                }
            }
            await().atMost(LONG)
                    .untilAsserted(() -> assertThat(told).hasSize(10).containsOnly("lost"));
            assertThat(logged).as("and could not be logged").isNotEmpty();
            await().atMost(LONG)
                    .untilAsserted(() -> assertThat(store.list("client-", 100)).isEmpty());
        } finally {
            logger.removeHandler(broken);
        }
    }
}
