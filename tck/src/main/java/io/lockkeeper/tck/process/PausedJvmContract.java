// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.Lease;
import io.lockkeeper.LeaseLost;
import io.lockkeeper.LockOptions;
import io.lockkeeper.tck.support.Rounds;
import java.nio.file.Path;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Clients in other JVMs, which are paused at the worst moments (K1, H56). */
public abstract class PausedJvmContract extends AbstractJvmContract {
    /** K1, H56: the lock cannot protect the storage from a paused holder; the token can. */
    @Test
    void aHolderPausedForLongerThanItsLeaseIsNotifiedAndItsLateWriteRejected(@TempDir Path folder) throws Exception {
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
        assertThat(child.ask("loss", "a")).as("reported once").endsWith(" 1");
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
    void aWaiterPausedDuringItsGrantHoldsWhenItWakesInTime() throws Exception {
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

    /** Wakes at about the moment when its first lease ends: a client that says it holds must be the only one. */
    @Test
    void aWaiterThatWakesWhenItsGrantEndsNeverBelievesItHoldsWhatAnotherHolds() throws Exception {
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
}
