// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lockkeeper.KeeperListener;
import io.lockkeeper.Lease;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.testservers.JumpingClock;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
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

/** Clients of real servers that have restarted with nothing: which of them wait, which fail, and what outlives a client. */
@Timeout(value = 3, unit = TimeUnit.MINUTES)
@Execution(ExecutionMode.CONCURRENT) // they mostly wait, each with its own servers
class RedlockSitOutTest {
    /** As the rig's, but sooner at the end of its patience. */
    private static final String IMPATIENT = "?operationTimeout=1s&memberTimeout=500ms&longestLease=4s&clockLead=2s";

    /** Not longer than the quorum allows. */
    private static final LockOptions SHORT = LockOptions.defaults().lease(Duration.ofSeconds(3));

    @TempDir
    static Path folder;

    private static Path library;

    private RedlockRig rig;

    @BeforeAll
    static void compile() throws Exception {
        library = JumpingClock.library(folder, Assumptions::abort);
    }

    @AfterEach
    void end() throws Exception {
        rig.close();
    }

    /** Hears when the store goes down and up. */
    private static final class Told implements KeeperListener {
        private final List<String> events = new CopyOnWriteArrayList<>();

        @Override
        public void storeDown(StoreUnavailableException cause) {
            events.add("down");
        }

        @Override
        public void storeUp() {
            events.add("up");
        }
    }

    private String url() {
        return RedlockFixture.url(rig.servers) + IMPATIENT;
    }

    /** A client that tries once, and ends, as one started by cron does; whether it acquired the lock. */
    private boolean succeedsOnce() {
        try (Lockkeeper keeper = Lockkeeper.connect(url())) {
            return keeper.lock("a", RedlockRig.FIXED)
                    .tryAcquire()
                    .map(Lease::release)
                    .orElse(false);
        } catch (StoreUnavailableException e) {
            return false;
        }
    }

    @Test
    @DisplayName("K7, K8: clients that live for a moment sit out together, whatever the clocks of a minority do")
    void clientsThatLiveForAMomentSitOutTogether() throws Exception {
        rig = new RedlockRig(5, library);
        for (int member : new int[] {0, 1, 2}) {
            rig.forget(member);
        }
        long forgot = System.nanoTime();
        assertThat(succeedsOnce()).isFalse();
        rig.clocks.get(0).jump(Duration.ofMillis(1_900));
        rig.clocks.get(3).jump(Duration.ofMillis(1_900));
        Admin.await("one of many acquires it", this::succeedsOnce);
        assertThat(Duration.ofNanos(System.nanoTime() - forgot)).isGreaterThan(RedlockRig.SITS_OUT);
        assertThat(succeedsOnce()).as("and all after it").isTrue();
    }

    @Test
    void aClaimWithTimeLeftAsksAgainUntilMembersHaveSatOut() throws Exception {
        rig = new RedlockRig(3, null);
        rig.servers.get(0).kill();
        rig.forget(2);
        long forgot = System.nanoTime();
        Told told = new Told();
        try (Lockkeeper keeper = Lockkeeper.builder(url()).listener(told).build()) {
            Optional<Lease> lease = keeper.lock("a", RedlockRig.FIXED).tryAcquire(Admin.LONG);
            assertThat(lease).isPresent();
            assertThat(Duration.ofNanos(System.nanoTime() - forgot)).isGreaterThan(RedlockRig.SITS_OUT);
            assertThat(lease.orElseThrow().release()).isTrue();
        }
        assertThat(told.events).containsExactly("down", "up");
    }

    @Test
    void aWaitThatIsTooShortForASitOutIsAFailureAndNotATakenLock() throws Exception {
        rig = new RedlockRig(3, null);
        rig.servers.get(0).kill();
        rig.forget(2);
        try (Lockkeeper keeper = Lockkeeper.connect(url())) {
            assertThatThrownBy(() -> keeper.lock("a", RedlockRig.FIXED).tryAcquire(Duration.ofSeconds(2)))
                    .isInstanceOf(StoreUnavailableException.class)
                    .hasMessageContaining("member 3 has lost its memory and sits out");
        }
    }

    private static void assertAllFail(Lockkeeper keeper, int attempts) {
        for (int i = 0; i < attempts; i++) {
            assertThatThrownBy(() -> keeper.lock("a", SHORT).tryAcquire())
                    .isInstanceOf(StoreUnavailableException.class);
        }
    }

    @Test
    void aStoreThatGoesDownOnceIsReportedOnce() throws Exception {
        rig = new RedlockRig(3, null);
        Told told = new Told();
        try (Lockkeeper keeper = Lockkeeper.builder(url()).listener(told).build()) {
            keeper.lock("a", SHORT).acquire().release();
            rig.servers.get(0).kill();
            rig.forget(2);
            assertAllFail(keeper, 4); // first connections that were cut, then a member that sits out
            Admin.await("it is reported", () -> !told.events.isEmpty());
            assertThat(told.events).as("while the store is down").containsExactly("down");
            rig.servers.get(0).restart();
            assertThat(keeper.lock("a", SHORT)
                            .tryAcquire(Admin.LONG)
                            .orElseThrow()
                            .release())
                    .isTrue();
            Admin.await("it is up", () -> told.events.contains("up"));
            assertThat(keeper.lock("a", SHORT).tryAcquire().orElseThrow().release())
                    .isTrue();
        }
        assertThat(told.events).containsExactly("down", "up");
    }

    @Test
    void aStoreThatCannotBeReachedOnceIsReportedOnce() throws Exception {
        rig = new RedlockRig(3, null);
        Told told = new Told();
        try (Lockkeeper keeper = Lockkeeper.builder(url()).listener(told).build()) {
            keeper.lock("a", SHORT).acquire().release();
            rig.servers.get(0).kill();
            rig.servers.get(2).kill();
            assertAllFail(keeper, 1);
            Admin.await("it is reported", () -> !told.events.isEmpty());
            rig.servers.get(2).restart(); // with nothing: it answers withdrawals, but does not count
            Admin.await("what was left is withdrawn", () -> new Admin(rig.servers.get(2))
                    .keys().stream().anyMatch(key -> key.endsWith(":refused")));
            assertAllFail(keeper, 2);
            assertThat(told.events).as("while the store is down").containsExactly("down");
        }
    }
}
