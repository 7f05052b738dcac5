// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.lockkeeper.Guarantee;
import io.lockkeeper.Lease;
import io.lockkeeper.LeaseLost;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.tck.support.Contract;
import io.lockkeeper.tck.support.Promise;
import io.lockkeeper.tck.support.Rounds;
import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Clients in JVMs of their own, which are killed and paused at the worst moments (K1, H55, H56). */
public abstract class TwoJvmContract extends Contract {
    /** The patience of a claim that must not leave the queue by itself while a test lasts. */
    private static final Duration FOR_EVER = Duration.ofMinutes(30);

    private static final int CROWD = 200;
    private static final int KILLED = 4;

    private Lockkeeper here;

    @BeforeEach
    final void connect() {
        assumeTrue(fixture().url().isPresent(), "NOT TESTED: no other JVM can reach this store");
        assumeTrue(File.separatorChar == '/', "NOT TESTED: this system cannot pause a process");
        here = keeper();
    }

    private ChildJvm start(boolean releaseOnShutdown) throws IOException {
        return closing(new ChildJvm(fixture().url().orElseThrow(), FOR_EVER, releaseOnShutdown));
    }

    private ChildJvm child() throws IOException, InterruptedException {
        return start(false).ready();
    }

    /** Pauses it, not in the middle of a step that would keep all others out. */
    private void pause(ChildJvm child) throws IOException, InterruptedException {
        child.pause();
        while (!fixture().letsOthersIn()) {
            child.resume();
            child.pause();
        }
    }

    /** The shortest lease that is kept alive here; a grant that is handed over begins with it. */
    private Duration lease() {
        Duration shortest = here.guarantees().shortestLease();
        Duration least = Duration.ofSeconds(1);
        return shortest.compareTo(least) < 0 ? least : shortest;
    }

    /** Waits in a claim of its own, on a connection of its own. */
    private Future<Lease> queue(String name) {
        Lockkeeper other = keeper();
        return async(() -> other.lock(name, LockOptions.defaults().fair(true)).acquire());
    }

    /** Waits in the same way, and returns when the store has queued it as the nth, if it has a queue. */
    private Future<Lease> queue(String name, int nth) throws InterruptedException {
        Future<Lease> next = queue(name);
        if (here.guarantees().has(Guarantee.FAIR)) {
            awaitWaiters(here, name, nth);
        }
        return next;
    }

    /** Waits with an eye on the store, so that whatever ends there is noticed at once; it is never free. */
    private void awaitTaken(String what, String name, BooleanSupplier condition) throws InterruptedException {
        await(what, () -> {
            assertThat(here.lock(name).tryAcquire()).isEmpty();
            return condition.getAsBoolean();
        });
    }

    private void assertHolder(String name, long token) {
        assertThat(here.inspector().inspect(name).orElseThrow().holders())
                .extracting(hold -> hold.token())
                .containsExactly(token);
    }

    // ---- A JVM that ends ----

    @Test
    void whatAnotherJvmHoldsIsTakenHereAndFreeWhenItEndsInOrder() throws Exception {
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
    void aJvmThatIsTerminatedReleasesWhatItHoldsIfItWasToldTo() throws Exception {
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
    void whatAKilledJvmHeldIsFreeWhenItsLeaseEnds() throws Exception {
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
    void aKilledWaiterDelaysThoseBehindItOnlyForSeconds() throws Exception {
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
        // Its place would have lasted for ever, so the store has tried it, and gone on.
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

    // ---- A JVM that is paused ----

    /** K1, H56: the lock cannot protect the storage from a paused holder; the token can. */
    @Test
    void aHolderPausedForLongerThanItsLeaseIsToldAndItsLateWriteRefused(@TempDir Path folder) throws Exception {
        String name = name();
        Path path = folder.resolve("guarded");
        GuardedFile storage = new GuardedFile(path);
        ChildJvm child = child();
        child.acquire("a", name, lease());
        long token = child.token("a");
        assertThat(child.ask("write", "a", path.toString(), "1")).isEqualTo("written");
        Future<Lease> next = queue(name, 1);

        pause(child);
        child.send("write", "a", path.toString(), "2"); // the first thing that it does when it wakes
        child.send("state", "a");
        Lease successor = get(next);
        assertThat(successor.token()).isGreaterThan(token);
        assertThat(storage.write(successor.token(), 3)).isTrue();
        child.resume();

        assertThat(child.answer()).isEqualTo("refused");
        assertThat(child.answer()).isEqualTo("invalid");
        assertThat(child.ask("loss", "a"))
                .isIn(
                        LeaseLost.Reason.EXPIRED + " 1",
                        LeaseLost.Reason.SESSION_LOST + " 1",
                        LeaseLost.Reason.STORE_UNREACHABLE + " 1"); // when it stood still in the middle of a renewal
        assertThat(child.ask("release", "a")).isEqualTo("false");
        assertThat(child.ask("loss", "a")).as("told once").endsWith(" 1");
        assertThat(storage.value()).isEqualTo(3);
        assertThat(successor.isValid()).isTrue();
        assertHolder(name, successor.token());
    }

    @Test
    void aHolderPausedForAMomentStillHolds() throws Exception {
        String name = name();
        ChildJvm child = child();
        child.acquire("a", name, LockOptions.defaults().lease());
        long token = child.token("a");
        pause(child);
        assertThat(here.lock(name).tryAcquire()).isEmpty();
        child.resume();
        assertThat(child.ask("state", "a")).isEqualTo("valid");
        assertHolder(name, token);
        assertThat(child.ask("release", "a")).isEqualTo("true");
    }

    @Test
    void aWaiterPausedDuringItsGrantHoldsWhenItWakesAlone() throws Exception {
        String name = name();
        Lease holder = here.lock(name).acquire();
        ChildJvm child = child();
        child.acquire("a", name, LockOptions.defaults().lease());
        awaitWaiters(here, name, 1);
        pause(child);
        assertThat(holder.release()).isTrue();
        child.resume();
        long token = child.token("a");
        assertThat(token).isGreaterThan(holder.token());
        assertThat(child.ask("state", "a")).isEqualTo("valid");
        assertHolder(name, token);
        assertThat(here.lock(name).tryAcquire()).isEmpty();
    }

    @Test
    void aWaiterThatSleptThroughItsGrantQueuesAgain() throws Exception {
        String name = name();
        Lease holder = here.lock(name).acquire();
        ChildJvm child = child();
        child.acquire("a", name, lease());
        awaitWaiters(here, name, 1);
        assertThat(child.ask("queued", "a")).isEqualTo("queued");
        Future<Lease> next = queue(name, 2);
        pause(child);
        assertThat(holder.release()).isTrue();
        awaitTaken("the end of the child's grant", name, next::isDone);
        Lease successor = get(next);
        child.send("state", "a");
        child.resume();
        assertThat(child.answer()).isEqualTo("waiting");
        awaitWaiters(here, name, 1);
        assertThat(child.ask("state", "a")).isEqualTo("waiting");
        assertThat(successor.isValid()).isTrue();
        assertThat(successor.release()).isTrue();
        assertThat(child.token("a")).isGreaterThan(successor.token());
        assertThat(child.ask("state", "a")).isEqualTo("valid");
    }

    /** Wakes at about the moment when its first lease ends: whoever says that it holds must be alone. */
    @Test
    void aWaiterThatWakesWhenItsGrantEndsNeverBelievesToHoldWhatAnotherHas() throws Exception {
        String name = name();
        ChildJvm child = child();
        long lease = lease().toNanos();
        Rounds rounds = Rounds.of(3, 50);
        for (int round = 0; rounds.goOnAfter(round); round++) {
            String key = "a" + round;
            Lease holder = here.lock(name).acquire();
            child.acquire(key, name, lease());
            awaitWaiters(here, name, 1);
            Future<Lease> next = queue(name, 2);
            pause(child);
            long end = System.nanoTime() + ThreadLocalRandom.current().nextLong(lease / 2, lease + lease / 2);
            assertThat(holder.release()).isTrue();
            awaitTaken("a pause, or the next one's turn", name, () -> next.isDone() || System.nanoTime() >= end);
            child.resume();
            serveBoth(child, key, next, holder.token());
        }
    }

    private void serveBoth(ChildJvm child, String key, Future<Lease> next, long lastToken) throws Exception {
        boolean childServed = false;
        boolean nextServed = false;
        long last = lastToken;
        long deadline = System.nanoTime() + LONG.toNanos();
        while (!childServed || !nextServed) {
            assertThat(System.nanoTime()).isLessThan(deadline);
            Lease ours = next.isDone() && !nextServed ? next.get() : null;
            boolean before = ours != null && ours.isValid();
            boolean theirs = !childServed && child.ask("state", key).equals("valid");
            boolean after = ours != null && ours.isValid();
            assertThat(before && theirs && after).as("both hold").isFalse();
            if (theirs) {
                long token = child.token(key);
                if (child.ask("release", key).equals("true")) {
                    assertThat(token).isGreaterThan(last);
                    last = token;
                }
                childServed = true;
            } else if (!childServed && child.ask("state", key).equals("invalid")) {
                childServed = true; // it held, for less than the time it took to ask
            } else if (ours != null) {
                assertThat(ours.token()).isGreaterThan(last);
                last = ours.token();
                assertThat(ours.release()).isTrue();
                nextServed = true;
            }
        }
    }

    // ---- Many at once ----

    @Test
    void threeJvmsOfFourThreadsAreNeverInsideTogether(@TempDir Path folder) throws Exception {
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
