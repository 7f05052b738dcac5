// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck.rules;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.DistributedLock;
import io.lockkeeper.DistributedSemaphore;
import io.lockkeeper.Lease;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.Mode;
import io.lockkeeper.spi.Answer;
import io.lockkeeper.spi.Claim;
import io.lockkeeper.spi.Grant;
import io.lockkeeper.spi.Renewal;
import io.lockkeeper.spi.Renewals;
import io.lockkeeper.tck.Tier;
import io.lockkeeper.tck.support.Attempt;
import io.lockkeeper.tck.support.OneAfterTheOther;
import io.lockkeeper.tck.support.SpiClient;
import io.lockkeeper.tck.support.StepContract;
import io.lockkeeper.testkit.FaultyStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Rule 5: what a vanished client had ends by itself, and nothing is left of what has ended. A client vanishes here by being
 * cut off from the store.
 */
public abstract class NoOrphansContract extends StepContract implements OneAfterTheOther.Alone {
    /** Claims of random names touch each of a store's few hundred parts. */
    private static final int ENOUGH_TO_TIDY_UP = 5_000;

    /** The shortest lease that is kept alive, which is a vanished client's stay in the store. */
    private LockOptions keptAlive() {
        return LockOptions.defaults().lease(millis(1_000));
    }

    @ParameterizedTest
    @EnumSource(Mode.class)
    @DisplayName("H55: what a vanished client held is free when its lease has ended, and not before")
    void theHoldOfAVanishedClientEndsWithItsLease(Mode mode) throws Exception {
        needs(mode);
        FaultyStore cutOff = faulty();
        Way theirs = Way.of(keeper(cutOff), name(), mode, keptAlive());
        long before = System.nanoTime();
        Lease lost = theirs.acquire();
        cutOff.down();
        Lease next = Way.of(keeper(), name(), mode, veryLong()).occupy();
        assertThat(lost.isValid()).as("valid when the next one is in").isFalse();
        assertThat(Duration.ofNanos(System.nanoTime() - before))
                .as("a vanished client keeps its hold for the lease")
                .isGreaterThanOrEqualTo(millis(1_000));
        assertThat(holders(name())).containsExactly(next.token());
        assertThat(next.release()).isTrue();
    }

    @Test
    void thePermitsOfAVanishedClientComeBack() throws Exception {
        needs(Mode.PERMITS);
        FaultyStore cutOff = faulty();
        DistributedSemaphore theirs = keeper(cutOff).semaphore(name(), 5, keptAlive());
        DistributedSemaphore mine = keeper().semaphore(name(), 5, veryLong());
        Lease two = theirs.acquire(2);
        Lease one = theirs.acquire(1);
        Lease stays = mine.acquire(2);
        assertThat(mine.availablePermits()).isZero();
        cutOff.down();
        Lease back = mine.acquire(3);
        assertThat(two.isValid()).isFalse();
        assertThat(one.isValid()).isFalse();
        assertThat(stays.isValid()).isTrue();
        assertThat(back.release()).isTrue();
        assertThat(stays.release()).isTrue();
        assertThat(mine.availablePermits()).isEqualTo(5);
    }

    @Test
    void thePlaceOfAVanishedClientInTheQueueIsGivenUpLongBeforeTheHolderIsDone() throws Exception {
        needsQueue();
        Lease holder = keeper().lock(name(), veryLong()).acquire();
        FaultyStore cutOff = faulty();
        DistributedLock theirs = patient(cutOff, Duration.ofSeconds(1)).lock(name(), veryLong());
        Attempt vanishes = attempt(theirs::acquire);
        awaitWaiters(name(), 1);
        Attempt behind = attempt(keeper().lock(name(), veryLong())::acquire);
        awaitWaiters(name(), 2);
        cutOff.down();
        awaitWaiters(name(), 1);
        assertThat(holder.isValid()).isTrue();
        assertThat(holder.release()).isTrue();
        Lease next = behind.get().orElseThrow();
        assertThat(holders(name())).containsExactly(next.token());
        assertThat(next.release()).isTrue();
        assertThat(vanishes.isDone() && isLease(vanishes))
                .as("granted to the dead")
                .isFalse();
    }

    private static boolean isLease(Attempt attempt) {
        try {
            return attempt.get().isPresent();
        } catch (Exception e) {
            return false;
        }
    }

    @Test
    void aClientThatLivesKeepsItsHoldsAndItsPlace() throws Exception {
        needsQueue();
        Lease holder = keeper().lock(name(), LockOptions.defaults().lease(Duration.ofSeconds(3)))
                .acquire();
        Attempt waiter = attempt(patient(store(), Duration.ofSeconds(3)).lock(name(), veryLong())::acquire);
        awaitWaiters(name(), 1);
        long begun = System.nanoTime();
        await("longer than the lease, and than the patience", () -> {
            assertThat(waiters(name())).isEqualTo(1);
            assertThat(holders(name())).containsExactly(holder.token());
            return System.nanoTime() - begun > Duration.ofMillis(3_500).toNanos();
        });
        assertThat(holder.release()).isTrue();
        assertThat(waiter.get().orElseThrow().release()).isTrue();
    }

    // ---- Renewal names what it renews ----

    @Test
    void aHoldThatIsNotNamedInARenewalEndsThoughItsClientLives() throws Exception {
        SpiClient client = client();
        Grant known = client.hold(name("known"), lasting(exclusive(), millis(500)));
        Grant unknown = client.hold(name("unknown"), lasting(exclusive(), millis(500)));
        assertThat(client.renew(known, VERY_LONG)).isInstanceOf(Renewal.Kept.class);
        awaitIdle(name("unknown"));
        assertThat(holders(name("known"))).containsExactly(known.token());
        assertThat(client.renew(unknown, VERY_LONG)).isInstanceOf(Renewal.Lost.class);
        assertIdle(name("unknown"));
    }

    @Test
    void aHoldThatIsNotNamedInARenewalEndsThoughItsNameIs() throws Exception {
        needs(Mode.PERMITS);
        SpiClient client = client();
        Grant known = client.hold(name(), lasting(permits(1, 2), millis(500)));
        client.hold(name(), lasting(permits(1, 2), millis(500)));
        assertThat(client.renew(known, VERY_LONG)).isInstanceOf(Renewal.Kept.class);
        await("the other permit has come back", () -> holders(name()).length == 1);
        assertThat(holders(name())).containsExactly(known.token());
    }

    @Test
    void aPlaceInTheQueueThatIsNotNamedInARenewalIsGivenUp() throws Exception {
        needsQueue();
        Duration patience = Duration.ofSeconds(2);
        SpiClient holder = client();
        SpiClient client = client();
        holder.hold(name(), exclusive());
        Claim unknown = client.queue(name(), waiting(exclusive(), patience));
        Claim known = client.queue(name(), waiting(exclusive(), patience));
        await("the one is out", () -> {
            assertThat(client.refresh(known)).isInstanceOf(Answer.Queued.class);
            return waiters(name()) == 1;
        });
        assertThat(SpiClient.queued(client.refresh(known)).ahead()).isZero();
        assertThat(SpiClient.refused(client.refresh(unknown))).isEqualTo(Answer.Why.GONE);
    }

    @Test
    void oneRenewalRenewsHoldsAndPlacesTogetherAndAnswersInTheirOrder() {
        needsQueue();
        SpiClient a = client();
        SpiClient b = client();
        Grant first = a.hold(name("1"), lasting(exclusive(), millis(5_000)));
        Grant gone = a.hold(name("2"), exclusive());
        assertThat(a.store().release(gone)).isTrue();
        b.hold(name("3"), exclusive());
        Claim queued = a.queue(name("3"), exclusive());
        Claim never = a.newClaim(name("4"), exclusive());
        Renewal renewal = a.store()
                .renew(new Renewals(
                        List.of(new Renewals.Hold(gone, VERY_LONG, 0), new Renewals.Hold(first, VERY_LONG, 0)),
                        List.of(never, queued)));
        assertThat(renewal.holds().get(0)).isInstanceOf(Renewal.Lost.class);
        assertThat(renewal.holds().get(1)).isInstanceOf(Renewal.Kept.class);
        assertThat(((Renewal.Kept) renewal.holds().get(1)).remaining()).isGreaterThan(VERY_LONG.dividedBy(2));
        assertThat(SpiClient.refused(renewal.queued().get(0))).isEqualTo(Answer.Why.GONE);
        assertThat(renewal.queued().get(1)).isInstanceOf(Answer.Queued.class);
        assertIdle(name("4"));
    }

    // ---- Nothing leaks ----

    @Test
    @DisplayName("H59: after a churn of names the store is as small as before")
    void afterAChurnOfNamesTheStoreIsAsSmallAsBefore() throws Exception {
        Lockkeeper a = keeper();
        Lockkeeper b = keeper();
        churn(a, b, "warm");
        long before = fixture().size();
        churn(a, b, "churn");
        await("as small as before", () -> {
            a.inspector().inspect(name("look")); // a store may tidy up when it is asked for something
            return fixture().size() <= before;
        });
        assertThat(a.inspector().list(name("churn"), 100)).isEmpty();
    }

    private void churn(Lockkeeper a, Lockkeeper b, String what) throws InterruptedException {
        int names = Tier.pick(200, 5_000);
        for (int i = 0; i < names; i++) {
            String name = name(what + i);
            Lease lease = a.lock(name).acquire();
            if (i % 10 == 0) {
                assertThat(b.lock(name).tryAcquire(Duration.ofMillis(1))).isEmpty();
            }
            assertThat(b.lock(name).tryAcquire()).isEmpty();
            assertThat(lease.release()).isTrue();
        }
    }

    @Test
    void theHoldsOfManyVanishedClientsAreNoLongerShown() throws Exception {
        Lockkeeper looking = keeper();
        List<Lease> lost = new ArrayList<>();
        for (int client = 0; client < 3; client++) {
            FaultyStore cutOff = faulty();
            Lockkeeper keeper = keeper(cutOff);
            for (int i = 0; i < 10; i++) {
                lost.add(keeper.lock(name(client + "-" + i), keptAlive()).acquire());
            }
            cutOff.down();
        }
        await("all of it is gone", () -> looking.inspector().list(name(""), 100).isEmpty());
        assertThat(lost).noneMatch(Lease::isValid);
    }

    @Test
    void aLeaseThatEndsWithItsClientLeavesTheStoreSmall() throws Exception {
        SpiClient client = client();
        Lockkeeper other = keeper();
        long before = fixture().size();
        for (int i = 0; i < 50; i++) {
            client.hold(name("gone" + i), lasting(exclusive(), millis(100)));
        }
        // A store may tidy up while it serves others, and in another place with each claim: time alone is no measure.
        long deadline = System.nanoTime() + LONG.toNanos();
        for (int claims = 0; fixture().size() > before; claims++) {
            assertThat(claims < ENOUGH_TO_TIDY_UP || System.nanoTime() < deadline)
                    .as("as small as before, after %d claims", claims)
                    .isTrue();
            assertThat(isFree(other.lock(name("other" + claims)))).isTrue();
        }
    }
}
