// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lockkeeper.Lease;
import io.lockkeeper.LeaseLost;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.Mode;
import io.lockkeeper.Sequencer;
import io.lockkeeper.StaleTokenException;
import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.tck.Tier;
import io.lockkeeper.testservers.Direction;
import io.lockkeeper.testservers.RedisServer;
import io.lockkeeper.testservers.TcpProxy;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import redis.clients.jedis.RedisClient;

/** The Redlock debate with real servers: pauses, delays, crowds and partitions. What clocks do is in another class. */
@Timeout(value = 3, unit = TimeUnit.MINUTES)
@Execution(ExecutionMode.CONCURRENT) // they mostly wait, each with its own servers
class RedlockHazardsTest {
    private RedlockRig rig;

    private RedlockRig rig(int members) throws Exception {
        rig = new RedlockRig(members, null);
        return rig;
    }

    @AfterEach
    void end() throws Exception {
        rig.close();
    }

    @Test
    @DisplayName("K1: a process that was stopped for longer than its lease is notified, and its write is rejected")
    void aStoppedProcessIsNotifiedAndItsWriteRejected() throws Exception {
        rig(3);
        RedisServer storage = rig.storage();
        RedisClient data = rig.connect(storage.port());
        ProcessBuilder builder = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx128m",
                        RedlockHolder.class.getName(),
                        rig.url(),
                        String.valueOf(storage.port()))
                .redirectError(ProcessBuilder.Redirect.DISCARD);
        builder.environment().put("CLASSPATH", System.getProperty("java.class.path"));
        Process holder = builder.start();
        rig.closing(() -> holder.destroyForcibly().waitFor());
        BufferedReader out = new BufferedReader(new InputStreamReader(holder.getInputStream(), StandardCharsets.UTF_8));
        String holds = line(out);
        assertThat(holds).startsWith("holds ");
        signal("STOP", holder);
        Lease next = rig.client().take(); // when the lease is over
        assertThat(next.token()).isGreaterThan(Long.parseLong(holds.substring("holds ".length())));
        RedisFence.of(data).enter(next); // before its first read
        assertThat(data.get("data")).isEqualTo("A");
        signal("CONT", holder);
        holder.outputWriter().append("write\n").flush();
        assertThat(line(out)).isEqualTo("stale valid=false notified=true");
        assertThat(data.get("data")).isEqualTo("A");
    }

    private static String line(BufferedReader out) throws Exception {
        return CompletableFuture.supplyAsync(() -> out.lines().findFirst().orElse("nothing"))
                .get(Admin.LONG.toSeconds(), TimeUnit.SECONDS);
    }

    private static void signal(String name, Process process) throws Exception {
        assertThat(new ProcessBuilder("kill", "-" + name, String.valueOf(process.pid()))
                        .start()
                        .waitFor())
                .isZero();
    }

    @Test
    @DisplayName("K2: a pause between the check of validity and the write is the fence's to notice")
    void aPauseBetweenCheckAndWriteIsCaughtByTheFence() throws Exception {
        rig(3);
        RedisClient data = rig.connect(rig.storage().port());
        RedisFence fence = RedisFence.of(data);
        Lease a = rig.client().take();
        fence.enter(a);
        a.ensureValid();
        Lease b = rig.client().take(); // as long as that takes, A is paused
        fence.enter(b);
        assertThatThrownBy(() -> fence.write(a, "SET", "data", "A")).isInstanceOf(StaleTokenException.class);
        assertThat(data.exists("data")).isFalse();
    }

    @Test
    @DisplayName("K3: a write that was under way until others had written is refused")
    void aWriteThatArrivesTooLateIsRejected() throws Exception {
        rig(3);
        RedisServer storage = rig.storage();
        TcpProxy slow = rig.closing(TcpProxy.to(storage.port()));
        RedisClient nearB = rig.connect(storage.port());
        RedisFence fenceOfA = RedisFence.of(rig.closing(RedisClient.builder()
                .hostAndPort("127.0.0.1", slow.port())
                .clientConfig(redis.clients.jedis.DefaultJedisClientConfig.builder()
                        .timeoutMillis((int) Admin.LONG.toMillis())
                        .build())
                .build()));
        Lease a = rig.client().take();
        fenceOfA.enter(a);
        slow.hold(Direction.REQUESTS);
        long before = slow.received(Direction.REQUESTS);
        CompletableFuture<Object> write = CompletableFuture.supplyAsync(() -> fenceOfA.write(a, "SET", "data", "A"));
        Admin.await("it is under way", () -> slow.received(Direction.REQUESTS) > before);
        Lease b = rig.client().take();
        RedisFence fenceOfB = RedisFence.of(nearB);
        fenceOfB.enter(b);
        fenceOfB.write(b, "SET", "data", "B");
        slow.pass();
        assertThatThrownBy(() -> write.get(Admin.LONG.toSeconds(), TimeUnit.SECONDS))
                .hasCauseInstanceOf(StaleTokenException.class);
        assertThat(nearB.get("data")).isEqualTo("B");
    }

    @Test
    @DisplayName("K4: grants whose answers come too late are none, and are given back")
    void grantsWhoseAnswersComeTooLateAreGivenBack() throws Exception {
        rig(3);
        RedlockRig.Client a = rig.client();
        assertThat(a.couldTake()).isTrue(); // it has its connections
        a.network().forEach(proxy -> proxy.delay(Direction.REPLIES, RedlockRig.LEASE.multipliedBy(2)));
        assertThatThrownBy(() -> a.keeper().lock("a", RedlockRig.FIXED).tryAcquire())
                .isInstanceOf(StoreUnavailableException.class);
        a.network().forEach(TcpProxy::pass);
        Lease b = rig.client().take();
        assertThat(b.isValid()).isTrue();
        assertThat(b.release()).isTrue();
        for (int i = 0; i < 3; i++) {
            int member = i;
            Admin.await("nothing is left at " + i, () -> !rig.isHeldAt(member));
        }
    }

    @Test
    @DisplayName("K4: a process that is stopped while it acquires holds nothing when it continues")
    void serversStoppedDuringAnAcquisitionGrantNothingLate() throws Exception {
        rig(3);
        RedlockRig.Client a = rig.client();
        assertThat(a.couldTake()).isTrue();
        rig.servers.get(1).pause();
        rig.servers.get(2).pause();
        CompletableFuture<Optional<Lease>> attempt =
                a.keeper().lock("a", RedlockRig.FIXED).tryAcquireAsync(Duration.ZERO);
        assertThatThrownBy(() -> attempt.get(Admin.LONG.toSeconds(), TimeUnit.SECONDS))
                .isInstanceOf(ExecutionException.class)
                .hasCauseInstanceOf(StoreUnavailableException.class);
        rig.servers.get(1).resume();
        rig.servers.get(2).resume();
        for (int i = 0; i < 3; i++) {
            int member = i;
            Admin.await("a late claim finds nothing at " + i, () -> !rig.isHeldAt(member));
        }
        assertThat(rig.client().take().release()).isTrue();
    }

    @Test
    @DisplayName("K11: a token may write again and again until a greater one has entered")
    void aTokenMayWriteUntilAGreaterOneHasEntered() throws Exception {
        rig(3);
        RedisClient data = rig.connect(rig.storage().port());
        RedisFence fence = RedisFence.of(data);
        RedlockRig.Client client = rig.client();
        Lease first = client.take();
        assertThat(fence.write(first, "SET", "data", "1")).isEqualTo("OK");
        assertThat(first.release()).isTrue();
        Lease second = client.take();
        assertThat(fence.write(first, "SET", "data", "2"))
                .as("it arrives first")
                .isEqualTo("OK");
        assertThat(fence.write(second, "SET", "data", "3")).isEqualTo("OK");
        assertThatThrownBy(() -> fence.write(first, "SET", "data", "4")).isInstanceOf(StaleTokenException.class);
        assertThat(fence.write(second, "SET", "data", "5")).isEqualTo("OK");
    }

    @Test
    @DisplayName("K12: tokens are unique, also those of readers, so that who cannot order them can compare and set")
    void tokensAreUniqueSoThatTheyCanBeComparedAndSet() throws Exception {
        rig(3);
        RedisClient data = rig.connect(rig.storage().port());
        List<Lease> readers = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            readers.add(rig.client()
                    .keeper()
                    .readWriteLock("a", RedlockRig.FIXED)
                    .readLock()
                    .acquire());
        }
        assertThat(readers.stream().map(Lease::token)).doesNotHaveDuplicates();
        String compareAndSet = "if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end"
                + " redis.call('SET', KEYS[2], ARGV[2]) return 1";
        List<Long> written = new ArrayList<>();
        for (Lease each : List.of(readers.get(0), readers.get(1))) {
            data.set("stamp", String.valueOf(each.token()));
        }
        for (Lease each : List.of(readers.get(0), readers.get(1))) {
            written.add((Long) data.eval(
                    compareAndSet, List.of("stamp", "data"), List.of(String.valueOf(each.token()), each.toString())));
        }
        assertThat(written).as("only the last one that stamped it").containsExactly(0L, 1L);
    }

    @Test
    @DisplayName("K14: many clients that vote at once all get their turn")
    void manyClientsThatVoteAtOnceAllGetTheirTurn() throws Exception {
        rig(5);
        int clients = Tier.pick(12, 50);
        AtomicInteger inside = new AtomicInteger();
        List<Callable<Long>> attempts = new ArrayList<>();
        for (int i = 0; i < clients; i++) {
            Lockkeeper keeper = rig.closing(Lockkeeper.connect(rig.url()));
            attempts.add(() -> {
                try (Lease lease = keeper.lock("a", LockOptions.defaults().lease(Duration.ofSeconds(4)))
                        .acquire()) {
                    assertThat(inside.incrementAndGet()).isEqualTo(1);
                    inside.decrementAndGet();
                    return lease.token();
                }
            });
        }
        ExecutorService threads = Executors.newCachedThreadPool();
        List<Long> tokens = new ArrayList<>();
        for (Future<Long> one : threads.invokeAll(attempts, 90, TimeUnit.SECONDS)) {
            tokens.add(one.get());
        }
        threads.shutdown();
        assertThat(tokens).hasSize(clients).doesNotHaveDuplicates();
    }

    @Test
    @DisplayName("K15: a hold that is renewed through one partition after the other ends with its longest hold")
    void renewalThroughPartitionsEndsWithTheLongestHold() throws Exception {
        rig(3);
        RedlockRig.Client a = rig.client();
        CompletableFuture<LeaseLost> told = new CompletableFuture<>();
        Lease held = a.keeper()
                .lock("a", LockOptions.defaults().lease(Duration.ofSeconds(4)).maxHold(Duration.ofSeconds(6)))
                .acquire()
                .onLost(told::complete);
        long began = System.nanoTime();
        for (int i = 0; !told.isDone(); i++) {
            TcpProxy away = a.network().get(i % 3);
            away.refuse();
            away.reset();
            long until = System.nanoTime() + 300_000_000;
            Admin.await("a while", () -> System.nanoTime() > until || told.isDone());
            away.pass();
            Admin.await("it is back", () -> away.openConnections() > 0 || told.isDone());
        }
        assertThat(told.join().reason()).isEqualTo(LeaseLost.Reason.MAX_HOLD);
        assertThat(Duration.ofNanos(System.nanoTime() - began)).isGreaterThan(Duration.ofSeconds(4));
        assertThat(held.isValid()).isFalse();
        assertThat(rig.client().take().token()).isGreaterThan(held.token());
        assertThat(new Sequencer("a", Mode.EXCLUSIVE, held.token()))
                .satisfies(late -> assertThat(rig.client().keeper().inspector().check(late))
                        .isFalse());
    }
}
