// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lockkeeper.Guarantee;
import io.lockkeeper.Lease;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.tck.support.Promise;
import io.lockkeeper.tck.support.Rounds;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Future;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Clients in other JVMs, which end or are killed at the worst moments (H55). */
public abstract class TwoJvmContract extends AbstractJvmContract {
    private static final int CROWD = 200;
    private static final int KILLED = 4;

    // ---- A JVM that ends ----

    @Test
    void theHoldOfAnotherJvmExcludesThisOneUntilItExits() throws Exception {
        String name = name();
        ChildJvm child = child();
        child.acquire("a", name, LockOptions.defaults().lease());
        long token = child.token("a");
        assertHolder(name, token);
        assertThat(here.lock(name).tryAcquire()).isEmpty();
        Future<Lease> next = queue(name, 1);
        child.end();
        assertThat(get(next).token()).isGreaterThan(token);
    }

    @Test
    void aTerminatedJvmReleasesItsHoldsIfConfiguredTo() throws Exception {
        String name = name();
        ChildJvm child = start(true).ready();
        child.acquire("a", name, FOR_EVER);
        child.token("a");
        child.terminate();
        assertThat(isFree(here.lock(name))).isTrue();
    }

    /** The hook must not let the JVM go while another thread is about to release. */
    @Test
    void aJvmThatIsTerminatedWhileItClosesReleasesWhatItHolds() throws Exception {
        String name = name();
        ChildJvm child = start(true).ready();
        child.acquire("a", name, FOR_EVER);
        child.token("a");
        child.terminateAndEnd();
        assertThat(isFree(here.lock(name))).isTrue();
    }

    @Test
    void theHoldOfAKilledJvmIsFreeWhenItsLeaseEnds() throws Exception {
        String name = name();
        ChildJvm child = child();
        child.acquire("a", name, lease());
        long token = child.token("a");
        Future<Lease> next = queue(name, 1);
        child.kill();
        assertThat(get(next).token()).isGreaterThan(token);
    }

    @Test
    void permitsOfAKilledJvmComeBack() throws Exception {
        String name = name();
        if (!here.guarantees().has(Guarantee.PERMITS)) {
            assertThatThrownBy(() -> here.semaphore(name, 3)).isInstanceOf(UnsupportedOperationException.class);
            return;
        }
        ChildJvm child = child();
        child.ask("permits", "a", name, "3", String.valueOf(lease().toMillis()));
        child.token("a");
        assertThat(here.semaphore(name, 3).availablePermits()).isZero();
        child.kill();
        Optional<Lease> all = here.semaphore(name, 3).tryAcquire(3, LONG);
        assertThat(all).isPresent();
    }

    @Test
    void aKilledWaiterDelaysThoseAfterItOnlyForSeconds() throws Exception {
        String name = name();
        Lease holder = here.lock(name).acquire();
        ChildJvm child = child();
        child.acquire("a", name, lease());
        awaitWaiters(here, name, 1);
        Lockkeeper patient =
                closing(Lockkeeper.builder(store()).patience(FOR_EVER).build());
        Future<Lease> next = async(patient.lock(name)::acquire);
        awaitWaiters(here, name, 2);
        child.kill();
        assertThat(holder.release()).isTrue();
        // Its place would have lasted forever, so the store has tried it, and gone on.
        assertThat(get(next).token()).isGreaterThan(holder.token());
    }

    @Test
    void aJvmKilledBetweenGrantAndUseLeavesNoLockDelay() throws Exception {
        String name = name();
        Duration delay = here.guarantees().has(Guarantee.LOCK_DELAY) ? Duration.ofHours(1) : Duration.ZERO;
        Lease holder = here.lock(name).acquire();
        ChildJvm child = child();
        child.acquire("a", name, lease(), delay);
        awaitWaiters(here, name, 1);
        Future<Lease> next = queue(name, 2);
        pause(child);
        assertThat(holder.release()).isTrue();
        child.kill();
        awaitTaken("the next one's turn", name, next::isDone);
        Lease successor = get(next);
        assertThat(successor.token()).isGreaterThan(holder.token());
        assertHolder(name, successor.token());
    }

    /** One by one, the dead waiters' first leases would add up to minutes. */
    @Test
    void aKilledJvmWithManyWaitersStallsTheQueueOnce() throws Exception {
        String name = name();
        Lease holder = here.lock(name).acquire();
        ChildJvm child = child();
        for (int i = 0; i < CROWD; i++) {
            child.acquire("a" + i, name, lease());
        }
        awaitWaiters(here, name, CROWD);
        Future<Lease> next = queue(name, CROWD + 1);
        Future<Lease> afterNext = queue(name, CROWD + 2);
        child.kill();
        assertThat(holder.release()).isTrue();
        Lease served = get(next);
        assertThat(afterNext.isDone()).isFalse();
        awaitWaiters(here, name, 1);
        assertThat(served.release()).isTrue();
        assertThat(get(afterNext).token()).isGreaterThan(served.token());
    }

    @Test
    @Tag("full")
    @DisplayName("H66, H116: several killed JVMs, with many waiting threads each, stall the queue once")
    void severalKilledJvmsWithManyWaitersStallTheQueueOnce() throws Exception {
        Promise.neededWithoutSessions(store());
        String name = name();
        Lease holder = here.lock(name).acquire();
        List<ChildJvm> children = new ArrayList<>();
        for (int i = 0; i < KILLED; i++) {
            children.add(start(false));
        }
        for (ChildJvm child : children) {
            child.ready();
            for (int i = 0; i < CROWD / KILLED; i++) {
                child.acquire("a" + i, name, LockOptions.defaults().lease());
            }
        }
        int crowd = KILLED * (CROWD / KILLED);
        awaitWaiters(here, name, crowd);
        Future<Lease> next = queue(name, crowd + 1);
        for (ChildJvm child : children) {
            child.kill();
        }
        assertThat(holder.release()).isTrue();
        Set<Long> tried = new HashSet<>();
        await("the live one's turn", () -> {
            here.inspector().inspect(name).ifPresent(info -> info.holders().forEach(hold -> tried.add(hold.token())));
            return next.isDone();
        });
        tried.remove(get(next).token());
        assertThat(tried).as("grants that nobody took up").hasSizeLessThanOrEqualTo(1);
        awaitWaiters(here, name, 0);
    }

    // ---- Many at once ----

    @Test
    void threeJvmsWithFourThreadsEachNeverHoldAtOnce(@TempDir Path folder) throws Exception {
        String name = name();
        Path path = folder.resolve("witness");
        Witness witness = new Witness(path);
        Rounds rounds = Rounds.of(50, 1_000);
        List<ChildJvm> children = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            children.add(start(false));
        }
        for (ChildJvm child : children) {
            child.ready();
        }
        for (ChildJvm child : children) {
            child.send("work", name, path.toString(), "4", rounds.least() + "-" + rounds.most());
        }
        long visits = 0;
        for (ChildJvm child : children) {
            visits += Long.parseLong(child.answer().replace("done ", ""));
        }
        assertThat(witness.visits()).isEqualTo(visits).isGreaterThanOrEqualTo(12L * rounds.least());
        assertThat(isFree(here.lock(name))).isTrue();
    }
}
