// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck;

import io.lockkeeper.Lease;
import io.lockkeeper.LockOptions;
import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.spi.LatchStep;
import io.lockkeeper.tck.support.Contract;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;

/** The Redlock debate as scenarios on virtual time: what these have in common. */
@Timeout(value = 2, unit = TimeUnit.MINUTES)
abstract class QuorumFaults {
    static final Duration LEASE = Duration.ofSeconds(20);
    static final LockOptions FIXED = LockOptions.defaults().fixedLease(LEASE);

    /** Kept alive; time that jumps by less than a third of it does no harm. */
    static final LockOptions KEPT = LockOptions.defaults().lease(Duration.ofSeconds(24));

    QuorumRig rig = new QuorumRig(5);

    final QuorumRig rig(int members) {
        rig = new QuorumRig(members);
        return rig;
    }

    @AfterEach
    final void end() throws Exception {
        rig.close();
    }

    /** Does something on its own thread: the JVM's common pool may have a single one, and what is paused keeps it. */
    static <T> CompletableFuture<T> async(Supplier<T> task) {
        return CompletableFuture.supplyAsync(task, run -> new Thread(run).start());
    }

    /** Does something that may have to wait, while time passes. */
    final <T> T meanwhile(Callable<T> task) throws Exception {
        CompletableFuture<T> done = async(() -> {
            try {
                return task.call();
            } catch (Exception e) {
                throw new CompletionException(e);
            }
        });
        Contract.await("done", () -> {
            rig.time.jump(Duration.ofMillis(2));
            return done.isDone();
        });
        try {
            return done.join();
        } catch (CompletionException e) {
            throw e.getCause() instanceof Exception cause ? cause : e;
        }
    }

    final Lease take(QuorumRig.Client client) throws Exception {
        return meanwhile(client.keeper().lock("a", FIXED)::acquire);
    }

    final boolean isTaken(QuorumRig.Client client) throws Exception {
        return meanwhile(() -> {
            Optional<Lease> lease = client.keeper().lock("a", FIXED).tryAcquire();
            lease.ifPresent(Lease::release);
            return lease.isEmpty();
        });
    }

    final boolean release(Lease lease) throws Exception {
        return meanwhile(lease::release);
    }

    static <T> T get(CompletableFuture<T> future) throws Exception {
        return future.get(Contract.LONG.toSeconds(), TimeUnit.SECONDS);
    }

    /** Tries once; false if it is granted, which is then released. */
    final boolean triesInVain(QuorumRig.Client client) throws Exception {
        try {
            return isTaken(client);
        } catch (StoreUnavailableException e) {
            return true;
        }
    }

    /** Waits until no member has anything but its marker; what it remembers for a moment ends as time passes. */
    final void awaitEmpty() throws InterruptedException {
        QuorumRig.Client looking = rig.client();
        Contract.await("members are empty", () -> {
            rig.time.jump(Duration.ofMillis(500));
            looking.keeper().inspector().inspect("unused");
            looking.connections().forEach(c -> c.latch(new LatchStep.Look("unused")));
            return rig.servers.stream().allMatch(server -> server.size() <= 1);
        });
    }

    /**
     * Lets time pass while a lease lasts: more slowly when its renewal is due, so that there is real time to renew it, but not
     * without any, because a renewal that failed is made again after a while.
     */
    final void letTimePass(int millis, Lease kept) {
        long left = kept.remaining().toSeconds();
        rig.time.jump(Duration.ofMillis(left > 10 ? millis : left > 2 ? 10 : 0));
    }
}
