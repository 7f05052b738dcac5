// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lockkeeper.Lease;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.testservers.RedisServer;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** {@code replicas=n}: what too few replicas have is not believed. */
class ReplicasTest {
    private static final LockOptions LEASE = LockOptions.defaults().lease(Duration.ofSeconds(20));

    private RedisServer master;
    private RedisServer replica;

    @BeforeEach
    void start() throws Exception {
        master = RedisServer.start("--repl-diskless-sync-delay", "0");
        replica = RedisServer.start("--replicaof", master.host() + " " + master.port());
        Admin.await(
                "it follows",
                () -> new Admin(replica).text("INFO", "replication").contains("master_link_status:up"));
    }

    @AfterEach
    void end() {
        replica.close();
        master.close();
    }

    private Lockkeeper keeper(int replicas, Duration operationTimeout) {
        return Lockkeeper.builder("redis://" + master.address() + "?replicas=" + replicas)
                .operationTimeout(operationTimeout)
                .build();
    }

    @Test
    void aGrantIsInTheReplicaWhenItIsReported() throws Exception {
        try (Lockkeeper keeper = keeper(1, Duration.ofSeconds(20));
                Lockkeeper other = keeper(1, Duration.ofSeconds(20))) {
            Admin onReplica = new Admin(replica);
            for (int i = 0; i < 20; i++) {
                try (Lease lease = keeper.lock("a" + i, LEASE).acquire()) {
                    assertThat(onReplica.record("a" + i)).contains(" " + lease.token() + " ");
                    assertThat(lease.isValid()).isTrue();
                }
            }
            // Also when it was handed over.
            Lease first = keeper.lock("b", LEASE).acquire();
            CompletableFuture<Lease> waiting = other.lock("b", LEASE).acquireAsync();
            Admin.await(
                    "it waits",
                    () -> keeper.inspector().inspect("b").orElseThrow().waiters() == 1);
            first.release();
            Lease second = waiting.get(Admin.LONG.toSeconds(), TimeUnit.SECONDS);
            assertThat(onReplica.record("b")).contains(" " + second.token() + " ");
            second.release();
        }
    }

    @Test
    void aReplicaThatDoesNotAnswerIsAFailureAndNothingStaysHeld() throws Exception {
        try (Lockkeeper patient = keeper(0, Duration.ofSeconds(20));
                Lockkeeper keeper = keeper(1, Duration.ofSeconds(1))) {
            keeper.lock("a", LEASE).acquire().close();
            replica.pause();
            try {
                assertThatThrownBy(() -> keeper.lock("a", LEASE).tryAcquire())
                        .isInstanceOf(StoreUnavailableException.class)
                        .hasMessageContaining("replicas");
                // Permits that were never taken are not given back either.
                Lease permits = patient.semaphore("s", 2).acquire(2);
                assertThatThrownBy(() -> keeper.semaphore("s", 2).tryAcquire(1))
                        .isInstanceOf(StoreUnavailableException.class);
                assertThat(patient.semaphore("s", 2).availablePermits()).isZero();
                permits.release();
            } finally {
                replica.resume();
            }
            Admin.await("it is free for good", () -> {
                Optional<Lease> lease = patient.lock("a", LEASE).tryAcquire();
                lease.ifPresent(Lease::release);
                return lease.isPresent();
            });
            Admin.await("it works again", () -> {
                try {
                    return keeper.lock("a", LEASE)
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
    void moreReplicasThanThereAreIsAFailure() {
        try (Lockkeeper keeper = keeper(2, Duration.ofSeconds(1))) {
            assertThatThrownBy(() -> keeper.lock("a", LEASE).tryAcquire())
                    .isInstanceOf(StoreUnavailableException.class)
                    .hasMessageContaining("1 of the 2 replicas");
        }
    }
}
