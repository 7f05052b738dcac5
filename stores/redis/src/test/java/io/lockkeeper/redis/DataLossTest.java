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
import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.spi.Answer;
import io.lockkeeper.spi.Claim;
import io.lockkeeper.spi.ClaimId;
import io.lockkeeper.spi.Grant;
import io.lockkeeper.spi.LatchState;
import io.lockkeeper.spi.LatchStep;
import io.lockkeeper.spi.Renewal;
import io.lockkeeper.spi.Renewals;
import io.lockkeeper.spi.Terms;
import io.lockkeeper.testservers.RedisServer;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tokens rise whatever becomes of the data, and records are not misread. */
class DataLossTest {
    private RedisServer server;
    private Admin admin;

    @BeforeEach
    void start() {
        server = RedisServer.start();
        admin = new Admin(server);
    }

    @AfterEach
    void end() {
        server.close();
    }

    private Lockkeeper keeper() {
        return Lockkeeper.builder("redis://" + server.address())
                .operationTimeout(Duration.ofSeconds(20))
                .build();
    }

    private interface Loss {
        void happen();
    }

    private void holderIsToldAndTokensRise(Loss loss) throws Exception {
        try (Lockkeeper keeper = keeper();
                Lockkeeper other = keeper()) {
            Lease lease = keeper.lock("lost", LockOptions.defaults().lease(Duration.ofSeconds(3)))
                    .acquire();
            CompletableFuture<LeaseLost> told = new CompletableFuture<>();
            lease.onLost(told::complete);
            loss.happen();
            try (Lease next = other.lock("lost").acquire()) {
                assertThat(next.token()).isGreaterThan(lease.token());
                assertThat(told.get(Admin.LONG.toSeconds(), TimeUnit.SECONDS).reason())
                        .isIn(LeaseLost.Reason.EXPIRED, LeaseLost.Reason.STORE_UNREACHABLE);
                assertThat(lease.isValid()).isFalse();
                assertThat(next.isValid()).isTrue();
            }
        }
    }

    @Test
    void tokensRiseAfterAFlushAndTheHolderIsNotified() throws Exception { // H33
        holderIsToldAndTokensRise(() -> admin.ask("FLUSHALL"));
    }

    @Test
    void tokensRiseAfterARestartWithoutDataAndTheHolderIsNotified() throws Exception { // H32
        holderIsToldAndTokensRise(() -> {
            server.kill();
            server.restart();
        });
    }

    @Test
    void tokensRiseWhenTheFloorsAloneAreLost() throws Exception {
        try (Lockkeeper keeper = keeper()) {
            long last = 0;
            for (int i = 0; i < 20; i++) {
                try (Lease lease = keeper.lock("floor").acquire()) {
                    assertThat(lease.token()).isGreaterThan(last);
                    last = lease.token();
                }
                admin.ask("FLUSHALL");
            }
        }
    }

    @Test
    void aHolderIsNotifiedWhenTheServerIsBackWithoutItsData() throws Exception { // H69
        LockOptions hour = LockOptions.defaults().lease(Duration.ofHours(1)); // renewed long after this test
        try (Lockkeeper keeper = keeper();
                Lockkeeper other = keeper()) {
            Lease lease = keeper.lock("restarted", hour).acquire();
            CompletableFuture<LeaseLost> told = new CompletableFuture<>();
            lease.onLost(told::complete);
            server.kill();
            server.restart();
            assertThat(told.get(Admin.LONG.toSeconds(), TimeUnit.SECONDS).reason())
                    .isEqualTo(LeaseLost.Reason.EXPIRED);
            assertThat(lease.isValid()).isFalse();
            try (Lease next = other.lock("restarted", hour).acquire()) {
                assertThat(next.token()).isGreaterThan(lease.token());
                assertThat(lease.isValid()).isFalse();
            }
        }
    }

    // ---- Deleted by hand ----

    @Test
    void aRecordThatWasDeletedIsReportedAsLostAtTheNextRenewal() throws Exception { // H115
        LockOptions short3 = LockOptions.defaults().lease(Duration.ofSeconds(3));
        try (Lockkeeper keeper = keeper()) {
            Lease lock = keeper.lock("deleted", short3).acquire();
            Lease one = keeper.semaphore("crowd", 5, short3).acquire(2);
            Lease two = keeper.semaphore("crowd", 5, short3).acquire(1);
            List<CompletableFuture<LeaseLost>> told = new java.util.ArrayList<>();
            for (Lease lease : List.of(lock, one, two)) {
                CompletableFuture<LeaseLost> lost = new CompletableFuture<>();
                lease.onLost(lost::complete);
                told.add(lost);
            }
            assertThat(admin.ask("HDEL", Admin.names("deleted"), "deleted")).isEqualTo(1L);
            assertThat(admin.ask(
                            "DEL",
                            Admin.text(new Keys("lockkeeper").ofName("crowd").get(3))))
                    .isEqualTo(1L);
            for (CompletableFuture<LeaseLost> lost : told) {
                assertThat(lost.get(Admin.LONG.toSeconds(), TimeUnit.SECONDS).reason())
                        .isEqualTo(LeaseLost.Reason.EXPIRED);
            }
            keeper.lock("deleted").acquire().close();
            Admin.await(
                    "all permits are back", () -> keeper.semaphore("crowd", 5).availablePermits() == 5);
            keeper.semaphore("crowd", 5).acquire(5).close();
        }
    }

    @Test
    void aWaiterWhoseEntryWasDeletedQueuesAgain() throws Exception { // H115
        LockOptions hour = LockOptions.defaults().lease(Duration.ofHours(1));
        for (int key = 0; key < 5; key++) { // the record, or one of the queue's keys
            String name = "queue" + key;
            try (Lockkeeper keeper = keeper();
                    Lockkeeper other = Lockkeeper.builder("redis://" + server.address())
                            .patience(Duration.ofSeconds(1))
                            .build()) {
                Lease lease = keeper.lock(name, hour).acquire();
                CompletableFuture<Lease> waiting = other.lock(name, hour).acquireAsync();
                Admin.await(
                        "it waits",
                        () -> keeper.inspector().inspect(name).orElseThrow().waiters() == 1);
                if (key == 4) {
                    admin.ask("HDEL", Admin.names(name), name);
                } else {
                    admin.ask(
                            "DEL",
                            Admin.text(new Keys("lockkeeper").ofName(name).get(key)));
                    Admin.await("it waits again", () -> {
                        assertThat(waiting).isNotDone();
                        return keeper.inspector().inspect(name).orElseThrow().waiters() == 1;
                    });
                    assertThat(lease.release()).isTrue();
                }
                waiting.get(Admin.LONG.toSeconds(), TimeUnit.SECONDS).close();
            }
        }
    }

    // ---- Numbers that a Lua double cannot hold ----

    private static Claim claim(RedisStore store, String name, int block) {
        Terms terms = new Terms(
                Mode.EXCLUSIVE,
                1,
                0,
                Duration.ofMinutes(1),
                Duration.ZERO,
                Duration.ofMinutes(1),
                block,
                false,
                "test",
                "");
        ClaimId id = new ClaimId(UUID.randomUUID().toString(), 1);
        return new Claim(name, id, terms, store.time(store.lane(name)).plusMicros(60_000_000), false);
    }

    private static Grant hold(RedisStore store, String name, int block) {
        Claim claim = claim(store, name, block);
        return Grant.of(claim, (Answer.Granted) store.claim(claim));
    }

    @Test
    void tokensBeyondWhatADoubleHoldsAreExact() {
        try (RedisStore store = RedisFixture.open("redis://" + server.address())) {
            Grant first = hold(store, "large", 64);
            assertThat(first.block()).isEqualTo(64);
            long raised = (1L << 60) + 1;
            Renewal renewal = store.renew(
                    new Renewals(List.of(new Renewals.Hold(first, Duration.ofMinutes(2), raised)), List.of()));
            assertThat(renewal.holds().get(0)).isInstanceOf(Renewal.Kept.class);
            assertThat(store.release(first)).isTrue();
            for (int i = 1; i <= 3; i++) {
                Grant grant = hold(store, "large", 64);
                assertThat(grant.token()).isEqualTo(raised + i);
                assertThat(grant.block()).as("the floor is ahead of the clock").isEqualTo(1);
                assertThat(store.check(new Sequencer("large", Mode.EXCLUSIVE, raised + i)))
                        .isTrue();
                assertThat(store.check(new Sequencer("large", Mode.EXCLUSIVE, raised + i - 1)))
                        .isFalse();
                assertThat(store.breakHold("large", raised + i + 1, Duration.ZERO, true))
                        .isFalse();
                assertThat(store.breakHold("large", raised + i, Duration.ZERO, true))
                        .isTrue();
            }
            // An old raise does not lower it.
            Grant last = hold(store, "large", 1);
            store.renew(new Renewals(List.of(new Renewals.Hold(last, Duration.ofMinutes(2), 5)), List.of()));
            store.release(last);
            assertThat(hold(store, "large", 1).token()).isEqualTo(raised + 5);
        }
    }

    @Test
    void countsBeyondWhatADoubleHoldsAreExact() {
        try (RedisStore store = RedisFixture.open("redis://" + server.address())) {
            var deadline = store.time(store.lane("latch")).plusMicros(60_000_000);
            String client = UUID.randomUUID().toString();
            LatchState set = store.latch(new LatchStep.Set("latch", Long.MAX_VALUE, new ClaimId(client, 1), deadline));
            assertThat(set.count()).isEqualTo(Long.MAX_VALUE);
            LatchState down = store.latch(new LatchStep.CountDown("latch", new ClaimId(client, 2), deadline));
            assertThat(down.count()).isEqualTo(Long.MAX_VALUE - 1);
        }
    }

    // ---- Records of others ----

    @Test
    void aRecordOfANewerFormatIsRefused() {
        try (RedisStore store = RedisFixture.open("redis://" + server.address())) {
            Keys keys = new Keys("lockkeeper");
            admin.ask("HSET", Admin.names("newer"), "newer", "7 something else");
            assertThatThrownBy(() -> store.claim(claim(store, "newer", 1)))
                    .isInstanceOfSatisfying(StoreUnavailableException.class, e -> assertThat(e.worthRepeating())
                            .isFalse())
                    .hasMessageContaining("format 7")
                    .hasMessageContaining("newer");
            assertThatThrownBy(() -> store.inspect("newer")).hasMessageContaining("format 7");
            admin.ask("HSET", Admin.text(keys.ofLatch("newer").get(0)), "format", "3");
            assertThatThrownBy(() -> store.latch(new LatchStep.Look("newer"))).hasMessageContaining("format 3");
        }
    }

    @Test
    void twoPrefixesInOneServerDoNotMeet() throws Exception {
        try (Lockkeeper one = Lockkeeper.connect("redis://" + server.address() + "?prefix=one");
                Lockkeeper two = Lockkeeper.connect("redis://" + server.address() + "?prefix=two:locks");
                Lockkeeper third = Lockkeeper.connect("redis://" + server.address() + "/3");
                Lease lease = one.lock("x").acquire();
                Lease other = two.lock("x").acquire();
                Lease third3 = third.lock("x").acquire()) {
            assertThat(one.inspector().list("", 10)).hasSize(1);
            assertThat(two.inspector().list("", 10)).hasSize(1);
            assertThat(third.inspector().list("", 10)).hasSize(1);
            assertThat(List.of(lease, other, third3)).allMatch(Lease::isValid);
        }
    }
}
