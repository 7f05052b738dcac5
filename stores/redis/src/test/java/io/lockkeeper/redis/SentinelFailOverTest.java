// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lockkeeper.Lease;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.testservers.RedisSentinels;
import io.lockkeeper.testservers.RedisServer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.exceptions.JedisConnectionException;

/** The master dies, and Sentinels put a replica in its place. */
class SentinelFailOverTest {
    private static final LockOptions LEASE = LockOptions.defaults().lease(Duration.ofSeconds(40));

    private RedisSentinels set;

    @BeforeEach
    void start() {
        set = RedisSentinels.start(Duration.ofSeconds(2));
    }

    @AfterEach
    void end() {
        set.close();
    }

    private Lockkeeper keeper() {
        return Lockkeeper.builder(url())
                .operationTimeout(Duration.ofSeconds(30))
                .patience(Duration.ofSeconds(60))
                .build();
    }

    private String url() {
        return "redis-sentinel://" + set.addresses() + "/0#" + RedisSentinels.MASTER;
    }

    /** Until the replicas have all that was written so far. */
    private void settle(RedisServer master) throws Exception {
        Admin admin = new Admin(master);
        Admin.await("replicas have it all", () -> {
            String state = admin.text("INFO", "replication");
            String offset = state.replaceAll("(?s).*master_repl_offset:(\\d+).*", "$1");
            return state.lines()
                            .filter(line -> line.contains("offset=" + offset + ","))
                            .count()
                    == 2;
        });
    }

    @Test
    void holdsAndWaitersSurviveAndTokensRiseWhenTheMasterIsKilledUnderLoad() throws Exception {
        try (Lockkeeper a = keeper();
                Lockkeeper b = keeper();
                Load load = new Load(List.of(a, a, b, b), List.of("n1", "n2", "n3", "n4"))) {
            Lease held = a.lock("held", LEASE).acquire();
            CompletableFuture<Lease> waiting = b.lock("held", LEASE).acquireAsync();
            Admin.await(
                    "it waits",
                    () -> a.inspector().inspect("held").orElseThrow().waiters() == 1);
            load.awaitCycles(3);
            RedisServer master = set.master();
            new Admin(master).ask("WAIT", "2", "1000");
            Admin.await("replicas have the queue", () -> set.servers().stream()
                    .allMatch(server -> new Admin(server).hasQueue("held")));
            master.kill();
            Map<String, Long> before = load.tokens();
            load.awaitCycles(5);
            load.tokens().forEach((name, token) -> assertThat(token).as(name).isGreaterThan(before.get(name)));
            assertThat(set.master()).isNotSameAs(master);

            assertThat(a.inspector().check(held.sequencer())).isTrue();
            assertThat(held.isValid()).isTrue();
            assertThat(waiting).isNotDone();
            assertThat(held.release()).isTrue();
            try (Lease next = waiting.get(Admin.LONG.toSeconds(), TimeUnit.SECONDS)) {
                assertThat(next.token()).isGreaterThan(held.token());
            }
            assertThat(load.failures()).isEmpty();
        }
    }

    @Test
    void aMasterThatHangsIsReplacedToo() throws Exception {
        try (Lockkeeper keeper = Lockkeeper.builder(url() + "?operationTimeout=1s")
                .patience(Duration.ofSeconds(60))
                .build()) {
            long last;
            try (Lease lease = keeper.lock("a", LEASE).acquire()) {
                last = lease.token();
            }
            RedisServer master = set.master();
            settle(master);
            master.pause();
            assertThatThrownBy(() -> keeper.lock("a", LEASE).tryAcquire())
                    .isInstanceOf(StoreUnavailableException.class);
            Admin.await("another master", () -> set.master() != master);
            Admin.await("the keeper has found it", () -> {
                try {
                    return keeper.lock("a", LEASE)
                            .tryAcquire()
                            .filter(lease -> lease.token() > last)
                            .map(Lease::release)
                            .orElse(false);
                } catch (StoreUnavailableException e) {
                    return false;
                }
            });
            // When it is back it is a replica, and nobody is led astray by it.
            master.resume();
            Admin.await("it follows", () -> {
                try {
                    return new Admin(master).text("INFO", "replication").contains("role:slave");
                } catch (JedisConnectionException e) {
                    return false; // the sentinel that makes it a replica closes its connections
                }
            });
            keeper.lock("b", LEASE).acquire().close();
        }
    }

    @Test
    void aSentinelThatIsAwayDoesNotMatter() throws Exception {
        set.sentinels().get(0).kill();
        try (Lockkeeper keeper = keeper()) {
            keeper.lock("a", LEASE).acquire().close();
        }
    }

    @Test
    void aMasterNameThatTheSentinelsDoNotKnowIsReported() {
        assertThatThrownBy(() -> Lockkeeper.connect("redis-sentinel://" + set.addresses() + "#nosuch"))
                .isInstanceOf(StoreUnavailableException.class)
                .hasMessageContaining("nosuch");
    }
}
