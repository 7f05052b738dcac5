// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck.rules;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.Lease;
import io.lockkeeper.LeaseLost;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.spi.Renewals;
import io.lockkeeper.tck.support.FaultContract;
import io.lockkeeper.tck.support.SignalTap;
import io.lockkeeper.tck.support.TwoLaneStore;
import io.lockkeeper.testkit.FaultyStore;
import io.lockkeeper.testkit.StepKind;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What a keeper does after something has failed once: it looks at what it holds (H69), and it tries again (rule 14). */
@SuppressWarnings("LockNotBeforeTry")
public abstract class RecoveryContract extends FaultContract {
    private static final int HOLDS = 20;

    /** Notes the names of all holds that a store is asked to renew. */
    private static Set<String> renewedBy(FaultyStore store) {
        Set<String> names = ConcurrentHashMap.newKeySet();
        store.observe((kind, argument) -> note(argument, names));
        return names;
    }

    private static void note(Object argument, Set<String> names) {
        if (argument instanceof Renewals batch) {
            batch.holds().forEach(hold -> names.add(hold.grant().claim().name()));
        }
    }

    // ---- After a reconnect: the server may have lost everything, and nothing says so ----

    @Test
    void allThatIsHeldIsRenewedAfterAReconnect() throws Exception {
        FaultyStore store = faulty();
        Set<String> renewed = renewedBy(store);
        Lockkeeper keeper = keeper(store);
        List<String> names = new ArrayList<>();
        for (int i = 0; i < HOLDS; i++) {
            names.add(hold(keeper.lock(name("n" + i), longLease())).name());
        }
        renewed.clear();
        store.up();
        await("all are renewed, long before they are due", () -> renewed.containsAll(names));
    }

    @Test
    void aHoldThatTheStoreHasForgottenIsLostAsSoonAsAReconnectIsReported() throws Exception {
        FaultyStore store = faulty();
        store.loseSignals(true);
        Lockkeeper keeper = keeper(store);
        Lease forgotten = hold(keeper.lock(name("forgotten"), longLease()));
        Lease kept = hold(keeper.lock(name("kept"), longLease()));
        CompletableFuture<LeaseLost> loss = lossOf(forgotten);
        CompletableFuture<LeaseLost> noLoss = lossOf(kept);
        Lockkeeper other = keeper();
        assertThat(other.inspector().breakHoldNow(forgotten.name(), forgotten.token(), Duration.ZERO))
                .isTrue();
        store.up();
        assertThat(get(loss).token()).isEqualTo(forgotten.token()); // its lease would go on for an hour
        assertThat(forgotten.isValid()).isFalse();
        assertThat(kept.isValid()).isTrue();
        assertThat(noLoss).isNotDone();
        assertThat(kept.release()).isTrue();
    }

    /** A fixed lease is not lengthened by that: its user was told when it ends. */
    @Test
    void aReconnectLengthensNoFixedLease() throws Exception {
        FaultyStore store = faulty();
        Lockkeeper keeper = keeper(store);
        Lease fixed = hold(keeper.lock(name("fixed"), fixed(60_000)));
        Lease kept = hold(keeper.lock(name("kept"), longLease()));
        Set<String> renewed = renewedBy(store);
        Duration before = fixed.remaining();
        store.up();
        await("what is kept alive is renewed", () -> renewed.contains(kept.name()));
        // A new answer may be nearer to the truth by the time of a trip; a lease of a minute begun again would be far
        // from that.
        assertThat(fixed.remaining()).isLessThan(before.plusSeconds(1));
        assertThat(expiresIn(fixed.name())).isLessThan(Duration.ofMinutes(1));
    }

    /** Many reconnects in a row, as of a connection that flaps, must not become a storm of renewals. */
    @Test
    void aConnectionThatFlapsCostsNoMoreThanARenewalPerReconnect() throws Exception {
        FaultyStore store = faulty();
        Lockkeeper keeper = keeper(store);
        for (int i = 0; i < HOLDS; i++) {
            hold(keeper.lock(name("n" + i), longLease()));
        }
        AtomicInteger holds = new AtomicInteger();
        store.observe((kind, argument) -> {
            if (argument instanceof Renewals batch) {
                holds.addAndGet(batch.holds().size());
            }
        });
        int flaps = 10;
        for (int i = 0; i < flaps; i++) {
            store.up();
        }
        await("all are renewed", () -> holds.get() >= HOLDS);
        assertThat(isFree(keeper.lock(name("after")))).isTrue();
        assertThat(holds.get()).isLessThanOrEqualTo((flaps + 1) * HOLDS);
    }

    // ---- A renewal that fails once, with whatever it may be ----

    /** What may come out of a renewal that is no {@code StoreUnavailableException}. */
    enum Failure {
        EXCEPTION,
        UNDECLARED_EXCEPTION,
        NO_THREAD,
        NO_CLASS,
        STACK_OVERFLOW;

        private Throwable newFailure() {
            return switch (this) {
                case EXCEPTION -> new IllegalStateException("injected");
                case UNDECLARED_EXCEPTION -> new IOException("injected");
                case NO_THREAD -> new OutOfMemoryError("injected: unable to create native thread");
                case NO_CLASS -> new NoClassDefFoundError("injected");
                case STACK_OVERFLOW -> new StackOverflowError("injected");
            };
        }

        /** Throws it the first time, declared or not. */
        void happenOnce(AtomicBoolean happened) {
            if (happened.compareAndSet(false, true)) {
                Failure.<RuntimeException>sneak(newFailure());
            }
        }

        @SuppressWarnings({"unchecked", "DoNotCallSuggester"})
        private static <E extends Throwable> void sneak(Throwable failure) throws E {
            throw (E) failure;
        }
    }

    /** Lets the next renewal of a store fail, and notes the holds of those that come after it. */
    private static Set<String> failOnce(FaultyStore store, Failure failure, AtomicBoolean failed) {
        Set<String> renewed = ConcurrentHashMap.newKeySet();
        store.observe((kind, argument) -> {
            if (kind == StepKind.RENEW) {
                failure.happenOnce(failed);
            }
            note(argument, renewed);
        });
        return renewed;
    }

    @ParameterizedTest
    @EnumSource
    void aLaneWhoseRenewalFailedOnceIsTriedAgain(Failure failure) throws Exception {
        FaultyStore sick = faulty();
        FaultyStore healthy = faulty();
        Lockkeeper keeper = keeper(new TwoLaneStore(sick, healthy));
        List<Lease> leases = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            leases.add(hold(keeper.lock(name(TwoLaneStore.SICK + i), keptSafely())));
        }
        leases.add(hold(keeper.lock(name("well"), keptSafely())));
        // Only now: a grant that a signal makes doubtful is confirmed by a renewal, too.
        AtomicBoolean failed = new AtomicBoolean();
        Set<String> bySick = failOnce(sick, failure, failed);
        Set<String> byHealthy = renewedBy(healthy);
        List<LeaseLost> losses = new CopyOnWriteArrayList<>();
        leases.forEach(lease -> lease.onLost(losses::add));
        await("a renewal fails", failed::get);
        Lease later = hold(keeper.lock(name(TwoLaneStore.SICK + "later"), keptSafely()));
        leases.add(later.onLost(losses::add));
        await("all in the lane are renewed again", () -> bySick.size() == 4);
        await("the other lane goes on", () -> byHealthy.contains(name("well")));
        assertThat(losses).isEmpty();
        for (Lease lease : leases) {
            assertThat(lease.release()).as(lease.name()).isTrue();
        }
    }

    @ParameterizedTest
    @EnumSource
    void waitersOfALaneWhoseRefreshFailedOnceAreServed(Failure failure) throws Exception {
        FaultyStore store = faulty();
        SignalTap tap = new SignalTap(store);
        Lockkeeper other = keeper();
        Lease others = hold(other.lock(name(), longLease()));
        AtomicBoolean failed = new AtomicBoolean();
        Lockkeeper keeper = keeper(tap.store(), b -> b.patience(LONG));
        CompletableFuture<Lease> waiting = keeper.lock(name(), keptSafely()).acquireAsync();
        awaitWaiters(other, name(), 1);
        failOnce(store, failure, failed);
        await("a refresh fails", () -> {
            tap.signals().missed(); // again, as its claim may not have been answered yet
            return failed.get();
        });
        store.loseSignals(true); // so that a later refresh is all that can help
        assertThat(others.release()).isTrue();
        await("it is served", () -> {
            tap.signals().missed();
            return waiting.isDone();
        });
        assertThat(get(waiting).release()).isTrue();
    }
}
