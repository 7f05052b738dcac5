// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lockkeeper.Lease;
import io.lockkeeper.LeaseLost;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.Mode;
import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.spi.Answer;
import io.lockkeeper.spi.Claim;
import io.lockkeeper.spi.ClaimId;
import io.lockkeeper.spi.Renewals;
import io.lockkeeper.spi.Signals;
import io.lockkeeper.spi.Subscription;
import io.lockkeeper.spi.Terms;
import io.lockkeeper.testservers.Direction;
import io.lockkeeper.testservers.RedisServer;
import io.lockkeeper.testservers.TcpProxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What a network, and a server that stops, can do. */
class NetworkFaultsTest {
    private static final LockOptions LEASE = LockOptions.defaults().lease(Duration.ofSeconds(30));

    private RedisServer server;
    private TcpProxy proxy;
    private final List<RedisStore> stores = new ArrayList<>();

    @BeforeEach
    void start() {
        server = RedisServer.start();
        proxy = TcpProxy.to(server.port());
    }

    @AfterEach
    void end() {
        stores.forEach(RedisStore::close);
        proxy.close();
        server.close();
    }

    private Lockkeeper near() {
        return Lockkeeper.builder("redis://" + server.address())
                .operationTimeout(Duration.ofSeconds(20))
                .patience(Duration.ofSeconds(30))
                .build();
    }

    private RedisStore farStore(String step) {
        RedisStore store = RedisFixture.open("redis://127.0.0.1:" + proxy.port() + "?operationTimeout=" + step);
        stores.add(store);
        return store;
    }

    /** Behind the proxy; a step that takes longer than {@code step} is repeated, for {@code operation} in all. */
    private Lockkeeper far(String step, Duration operation) {
        return Lockkeeper.builder(farStore(step))
                .operationTimeout(operation)
                .patience(Duration.ofSeconds(30))
                .build();
    }

    @Test
    void aClaimWhoseReplyIsLostIsGrantedOnce() throws Exception { // H39
        try (Lockkeeper look = near();
                Lockkeeper keeper = far("1s", Duration.ofSeconds(20))) {
            keeper.lock("warm").acquire().close();
            proxy.drop(Direction.REPLIES);
            CompletableFuture<Lease> acquiring = keeper.lock("lost", LEASE).acquireAsync();
            Admin.await("it was carried out", () -> look.lock("lost").isLocked());
            long token = look.inspector()
                    .inspect("lost")
                    .orElseThrow()
                    .holders()
                    .get(0)
                    .token();
            proxy.pass();
            Lease lease = acquiring.get(Admin.LONG.toSeconds(), TimeUnit.SECONDS);
            assertThat(lease.token()).as("the same grant").isEqualTo(token);
            proxy.drop(Direction.REPLIES);
            CompletableFuture<Boolean> releasing = lease.releaseAsync();
            Admin.await("it was carried out", () -> !look.lock("lost").isLocked());
            Lease others = look.lock("lost", LEASE).acquire();
            proxy.pass();
            assertThat(releasing.get(Admin.LONG.toSeconds(), TimeUnit.SECONDS))
                    .as("though another one has it now") // H40
                    .isTrue();
            assertThat(others.isValid()).isTrue();
            assertThat(look.inspector().check(others.sequencer())).isTrue();
            others.release();
        }
    }

    @Test
    void aClaimThatComesAfterItWasGivenUpHoldsNothing() throws Exception { // a ghost
        try (Lockkeeper look = near();
                Lockkeeper keeper = far("300ms", Duration.ofMillis(300))) {
            keeper.lock("warm").acquire().close();
            proxy.hold(Direction.REQUESTS);
            assertThatThrownBy(() -> keeper.lock("late", LEASE).tryAcquire())
                    .isInstanceOf(StoreUnavailableException.class);
            proxy.pass(); // what was sent arrives now
            Admin.await("it is free for good", () -> {
                Optional<Lease> lease = look.lock("late").tryAcquire();
                lease.ifPresent(Lease::release);
                return lease.isPresent();
            });
        }
    }

    @Test
    void aHolderThatIsCutOffIsNotifiedBeforeAnotherAcquires() throws Exception { // H41
        try (Lockkeeper other = near();
                Lockkeeper keeper = far("500ms", Duration.ofMillis(500))) {
            Lease lease = keeper.lock("cut", LockOptions.defaults().lease(Duration.ofSeconds(2)))
                    .acquire();
            CompletableFuture<LeaseLost> told = new CompletableFuture<>();
            lease.onLost(told::complete);
            CompletableFuture<Lease> waiting = other.lock("cut", LEASE).acquireAsync();
            Admin.await(
                    "it waits",
                    () -> other.inspector().inspect("cut").orElseThrow().waiters() == 1);
            proxy.drop(Direction.REQUESTS);
            proxy.drop(Direction.REPLIES);
            CompletableFuture<Boolean> stillValid = waiting.thenApply(next -> lease.isValid());
            assertThat(told.get(Admin.LONG.toSeconds(), TimeUnit.SECONDS).reason())
                    .isEqualTo(LeaseLost.Reason.STORE_UNREACHABLE);
            assertThat(stillValid.get(Admin.LONG.toSeconds(), TimeUnit.SECONDS)).isFalse();
            proxy.pass();
            assertThat(waiting.join().token()).isGreaterThan(lease.token());
            waiting.join().release();
        }
    }

    @Test
    void aSubscriptionThatIsDeadWithoutASignIsReplaced() throws Exception { // H42
        RedisStore store = farStore("1s");
        String client = UUID.randomUUID().toString();
        AtomicInteger missed = new AtomicInteger();
        Terms terms = new Terms(
                Mode.EXCLUSIVE, 1, 0, Duration.ofMinutes(1), Duration.ZERO, Duration.ofMinutes(1), 1, true, "test", "");
        Claim claim = new Claim(
                "silent", new ClaimId(client, 1), terms, store.time(store).plusMicros(60_000_000), false);
        try (Lockkeeper holder = near();
                Lease lease = holder.lock("silent", LEASE).acquire();
                Subscription subscription = store.listen(client, new CountingSignals(missed))) {
            assertThat(store.claim(claim)).isInstanceOf(Answer.Queued.class);
            // What is said on the old connections from now on does not come, though they are open.
            proxy.drop(Direction.REPLIES);
            int[] refused = new int[1];
            Admin.await("those who wait probe it", () -> !refreshes(store, claim) && ++refused[0] > 5);
            assertThat(missed).hasValue(0);
            proxy.pass();
            Admin.await("another one is made, and notified", () -> refreshes(store, claim) && missed.get() > 0);
            assertThat(lease.isValid()).isTrue();
            store.withdraw(claim);
        }
    }

    private static boolean refreshes(RedisStore store, Claim claim) {
        try {
            return store.renew(new Renewals(List.of(), List.of(claim))).queued().size() == 1;
        } catch (StoreUnavailableException e) {
            return false;
        }
    }

    /** Counts how often it is notified that it may have missed something. */
    private record CountingSignals(AtomicInteger count) implements Signals {
        @Override
        public void granted(ClaimId claim, Answer.Granted grant) {}

        @Override
        public void recalled(ClaimId claim) {}

        @Override
        public void changed(ClaimId claim) {}

        @Override
        public void lost(ClaimId claim, LeaseLost.Reason reason) {}

        @Override
        public void opened(String latch) {}

        @Override
        public void sessionLost(String why) {}

        @Override
        public void missed() {
            count.incrementAndGet();
        }
    }

    @Test
    void connectionsThatBreakInTheMiddleOfAStepDoNoHarm() throws Exception {
        try (Lockkeeper keeper = far("1s", Duration.ofSeconds(20))) {
            long last = 0;
            for (int i = 0; i < 20; i++) {
                CompletableFuture<Void> breaking = CompletableFuture.runAsync(proxy::reset);
                try (Lease lease = keeper.lock("resets", LEASE).acquire()) {
                    assertThat(lease.token()).isGreaterThan(last);
                    last = lease.token();
                    proxy.reset();
                }
                breaking.get(Admin.LONG.toSeconds(), TimeUnit.SECONDS);
            }
        }
    }

    @Test
    void aPausedServerDelaysNoCallForLong() throws Exception { // H45
        try (Lockkeeper keeper = far("500ms", Duration.ofMillis(500))) {
            keeper.lock("paused", LEASE).acquire().close();
            server.pause();
            try {
                long start = System.nanoTime();
                assertThatThrownBy(() -> keeper.lock("paused", LEASE).tryAcquire())
                        .isInstanceOf(StoreUnavailableException.class);
                assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(10));
            } finally {
                server.resume();
            }
            Admin.await("it is back, and no ghost holds it", () -> {
                try {
                    return keeper.lock("paused", LEASE)
                            .tryAcquire()
                            .map(Lease::release)
                            .orElse(false);
                } catch (StoreUnavailableException e) {
                    return false;
                }
            });
        }
    }

    @Test
    void moreThreadsThanConnectionsAllGetTheirTurn() throws Exception { // H48
        try (Lockkeeper keeper = near()) {
            Lease kept = keeper.lock("kept", LockOptions.defaults().lease(Duration.ofSeconds(1)))
                    .acquire();
            CompletableFuture<?>[] all = new CompletableFuture<?>[100];
            for (int i = 0; i < all.length; i++) {
                String name = "thread" + i;
                CompletableFuture<Void> done = new CompletableFuture<>();
                all[i] = done;
                new Thread(() -> {
                            try {
                                for (int n = 0; n < 50; n++) {
                                    keeper.lock(name, LEASE).acquire().close();
                                }
                                done.complete(null);
                            } catch (Throwable e) {
                                done.completeExceptionally(e);
                            }
                        })
                        .start();
            }
            CompletableFuture.allOf(all).get(Admin.LONG.toSeconds(), TimeUnit.SECONDS);
            assertThat(kept.isValid()).isTrue();
            kept.release();
        }
    }
}
