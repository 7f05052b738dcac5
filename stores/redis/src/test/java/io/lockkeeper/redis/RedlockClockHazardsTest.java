// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lockkeeper.Lease;
import io.lockkeeper.LockInfo;
import io.lockkeeper.LockOptions;
import io.lockkeeper.StaleTokenException;
import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.testservers.JumpingClock;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import redis.clients.jedis.RedisClient;

/** The Redlock debate with real servers: clocks that jump and servers that forget. */
@Timeout(value = 3, unit = TimeUnit.MINUTES)
@Execution(ExecutionMode.CONCURRENT) // they mostly wait, each with its own servers
class RedlockClockHazardsTest {
    @TempDir
    static Path folder;

    private static Path library;

    private RedlockRig rig;

    @BeforeAll
    static void compile() throws Exception {
        library = JumpingClock.library(folder, Assumptions::abort);
    }

    private RedlockRig rig(int members, String... settings) throws Exception {
        rig = new RedlockRig(members, library, settings);
        return rig;
    }

    @AfterEach
    void end() throws Exception {
        rig.close();
    }

    private Fenced fenced() {
        RedisClient data = rig.connect(rig.storage().port());
        return new Fenced(data, RedisFence.of(data));
    }

    /** Data that a fence protects. */
    private record Fenced(RedisClient data, RedisFence fence) {
        /** The later holder has entered before its first read; then the earlier one comes to write. */
        void refusesTheEarlier(Lease earlier, Lease later) {
            assertThat(later.token()).isGreaterThan(earlier.token());
            fence.enter(later);
            assertThatThrownBy(() -> fence.write(earlier, "SET", "data", "earlier"))
                    .isInstanceOf(StaleTokenException.class);
            assertThat(data.exists("data")).isFalse();
            assertThat(fence.write(later, "SET", "data", "later")).isEqualTo("OK");
        }
    }

    private static LockOptions fixed(int seconds) {
        return LockOptions.defaults().fixedLease(Duration.ofSeconds(seconds));
    }

    @Test
    @DisplayName("K5: a member whose clock jumps ahead by more than is allowed is ignored")
    void aMemberWhoseClockJumpsFarAheadIsIgnored() throws Exception {
        rig(5);
        RedlockRig.Client a = rig.client();
        a.cutOff(3, 4);
        Lease held = a.keeper().lock("a", fixed(4)).acquire();
        rig.clocks.get(2).jump(Duration.ofMinutes(1)); // to it, the lease is over
        RedlockRig.Client b = rig.client();
        b.cutOff(0, 1);
        assertThatThrownBy(() -> b.keeper().lock("a", RedlockRig.FIXED).tryAcquire())
                .isInstanceOf(StoreUnavailableException.class)
                .hasMessageContaining("member 3 is ignored, because its clock leads");
        b.network().get(0).pass();
        b.network().get(1).pass();
        Lease next = b.take(); // of the other four, when the lease is over
        assertThat(held.isValid()).as("one at a time").isFalse();
        assertThat(next.token()).isGreaterThan(held.token());
    }

    @Test
    @DisplayName(
            "K5: a jump that is allowed and reaches beyond the lease allows two holders; the fence rejects the earlier")
    void aJumpBeyondTheLeaseAllowsTwoHoldersAndTheFenceRejectsTheEarlier() throws Exception {
        rig(5);
        Fenced storage = fenced();
        RedlockRig.Client a = rig.client("30s");
        RedlockRig.Client b = rig.client("30s");
        a.cutOff(3, 4);
        b.cutOff(0, 1);
        Lease first = a.keeper().lock("a", fixed(4)).acquire();
        storage.fence.enter(first);
        rig.clocks.get(2).jump(Duration.ofSeconds(20));
        Lease second = b.take();
        storage.refusesTheEarlier(first, second);
    }

    @Test
    @DisplayName("K6: clocks that are set back let a dead holder's lock stay as long; it can be broken")
    void clocksThatAreSetBackKeepADeadHoldersLock() throws Exception {
        rig(3);
        RedlockRig.Client a = rig.client();
        Lease held = a.take();
        a.cutOff(0, 1, 2); // it dies
        for (JumpingClock clock : rig.clocks) {
            clock.jump(Duration.ofHours(-1));
        }
        RedlockRig.Client b = rig.client();
        assertThat(b.keeper().lock("a", RedlockRig.FIXED).tryAcquire(RedlockRig.LEASE.multipliedBy(2)))
                .as("longer than the lease")
                .isEmpty();
        LockInfo.Hold dead =
                b.keeper().inspector().inspect("a").orElseThrow().holders().get(0);
        assertThat(dead.expiresIn()).isGreaterThan(Duration.ofMinutes(50));
        assertThat(b.keeper().inspector().breakHoldNow("a", dead.token(), Duration.ZERO))
                .isTrue();
        assertThat(b.take().token()).as("in spite of the clocks").isGreaterThan(held.token());
    }

    @Test
    @DisplayName("K7: a member that restarts at once with nothing is not counted until every lease is over")
    void aMemberThatRestartsWithNothingSitsOut() throws Exception {
        rig(5);
        RedlockRig.Client a = rig.client();
        a.cutOff(3, 4);
        Lease held = a.keeper().lock("a", fixed(4)).acquire();
        rig.forget(2);
        RedlockRig.Client b = rig.client();
        b.cutOff(0, 1);
        assertThatThrownBy(() -> b.keeper().lock("a", RedlockRig.FIXED).tryAcquire())
                .isInstanceOf(StoreUnavailableException.class)
                .hasMessageContaining("member 3 has lost its memory and sits out");
        Admin.await("it has sat out", b::couldTake);
        assertThat(held.isValid()).isFalse();
        assertThat(b.take().token()).isGreaterThan(held.token());
    }

    @Test
    @DisplayName("K8: sitting out goes by the client's monotonic clock, wherever the member's jumps to")
    void sitOutsAreTimedByTheClientsClock() throws Exception {
        rig(3);
        RedlockRig.Client b = rig.client();
        b.cutOff(0);
        assertThat(b.couldTake()).isTrue();
        rig.forget(2);
        long forgot = System.nanoTime();
        assertThat(b.couldTake()).isFalse();
        rig.clocks.get(2).jump(Duration.ofMillis(1_900)); // to it, the time is over sooner
        Admin.await("it has sat out", b::couldTake);
        assertThat(Duration.ofNanos(System.nanoTime() - forgot)).isGreaterThan(RedlockRig.SITS_OUT);
    }

    @Test
    @DisplayName(
            "K9: a member that comes back with older data allows two holders; tokens rise, the fence rejects the earlier")
    void aMemberThatComesBackWithOlderDataAllowsTwoHolders() throws Exception {
        rig(5);
        Fenced storage = fenced();
        new Admin(rig.servers.get(2)).ask("SAVE"); // what a replica has that lags, or a disk
        RedlockRig.Client a = rig.client();
        RedlockRig.Client b = rig.client();
        a.cutOff(3, 4);
        b.cutOff(0, 1);
        Lease first = a.keeper().lock("a", fixed(4)).acquire();
        storage.fence.enter(first);
        rig.forget(2); // but not its marker
        Lease second = b.take();
        storage.refusesTheEarlier(first, second);
    }

    @Test
    @DisplayName("K10: tokens rise while one member after the other forgets")
    void tokensRiseWhileMembersLoseTheirDataOneAfterAnother() throws Exception {
        rig(5);
        RedlockRig.Client client = rig.client();
        long last = 0;
        for (int forgets : new int[] {0, 1}) {
            for (int i = 0; i < 3; i++) {
                Lease lease = client.take();
                assertThat(lease.token()).isGreaterThan(last);
                last = lease.token();
                assertThat(lease.release()).isTrue();
            }
            rig.forget(forgets);
        }
        rig.servers.get(4).kill(); // and nobody else has the largest token either
        assertThatThrownBy(() -> client.keeper().lock("a", RedlockRig.FIXED).tryAcquire())
                .isInstanceOf(StoreUnavailableException.class);
        Admin.await("those that forgot have sat out", client::couldTake);
        assertThat(client.take().token()).isGreaterThan(last);
    }

    @Test
    @DisplayName("K13: clocks that run a little fast are allowed for")
    void clocksThatRunALittleFastAreAllowedFor() throws Exception {
        rig(3);
        for (JumpingClock clock : rig.clocks) {
            clock.runFaster(9_000); // 0.9 %
        }
        Lease first = rig.client().keeper().lock("a", fixed(4)).acquire();
        Lease second = rig.client().take();
        assertThat(first.isValid()).as("when another acquires").isFalse();
        assertThat(second.token()).isGreaterThan(first.token());
    }

    @Test
    @DisplayName("K13: clocks that run much too fast allow two holders; the fence rejects the earlier")
    void clocksThatRunMuchTooFastAllowTwoHoldersAndTheFenceRejectsTheEarlier() throws Exception {
        rig(3);
        Fenced storage = fenced();
        Lease first = rig.client().keeper().lock("a", fixed(4)).acquire();
        storage.fence.enter(first);
        for (JumpingClock clock : rig.clocks) {
            clock.runFaster(1_000_000); // twice as fast
        }
        storage.refusesTheEarlier(first, rig.client().take());
    }
}
