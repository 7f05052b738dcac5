// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck.rules;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.Guarantee;
import io.lockkeeper.Lease;
import io.lockkeeper.LockInfo;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.Mode;
import io.lockkeeper.spi.Answer;
import io.lockkeeper.spi.Claim;
import io.lockkeeper.spi.Grant;
import io.lockkeeper.spi.Renewal;
import io.lockkeeper.spi.Renewals;
import io.lockkeeper.spi.StoreTime;
import io.lockkeeper.spi.Terms;
import io.lockkeeper.tck.Tier;
import io.lockkeeper.tck.support.Attempt;
import io.lockkeeper.tck.support.SpiClient;
import io.lockkeeper.tck.support.StepContract;
import io.lockkeeper.testkit.FaultyStore;
import io.lockkeeper.testkit.StepKind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Rule 7: a release admits exactly the next one, and notifies nobody else; a grant that nobody takes up ends soon. */
public abstract class HandOverContract extends StepContract {
    @BeforeEach
    void handsOver() {
        needsQueue();
    }

    // ---- No herd ----

    @Test
    void aReleaseWakesTheNextClientAndNoOther() throws Exception {
        Lease holder = keeper().lock(name(), veryLong()).acquire();
        List<FaultyStore> stores = new ArrayList<>();
        List<Attempt> waiters = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            FaultyStore store = faulty();
            stores.add(store);
            waiters.add(attempt(patient(store, VERY_PATIENT).lock(name(), veryLong())::acquire));
            awaitWaiters(name(), i + 1);
        }
        // A waiter is in the queue before it learns of it: what it does until then is not counted.
        for (FaultyStore store : stores) {
            await("its claim was made", () -> store.count(StepKind.CLAIM) == 1);
        }
        Lease previous = holder;
        for (int next = 0; next < 5; next++) {
            stores.forEach(FaultyStore::resetCounts);
            long began = System.nanoTime();
            assertThat(previous.release()).isTrue();
            previous = waiters.get(next).get().orElseThrow();
            // They refresh their places from time to time, however long this takes.
            long refreshes = 1 + Duration.ofNanos(System.nanoTime() - began).toSeconds();
            for (int other = next + 1; other < 5; other++) {
                FaultyStore store = stores.get(other);
                assertThat(store.count() - store.count(StepKind.RENEW))
                        .as("steps of client " + other + " when client " + next + " was granted it")
                        .isZero();
                assertThat(store.count(StepKind.RENEW)).isLessThanOrEqualTo((int) refreshes);
            }
        }
        assertThat(previous.release()).isTrue();
    }

    @Test
    void aReleaseNotifiesOnlyTheNextClient() throws Exception {
        SpiClient holder = client();
        SpiClient next = client();
        SpiClient last = client();
        Grant held = holder.hold(name(), exclusive());
        Claim second = next.queue(name(), exclusive());
        last.queue(name(), exclusive());
        assertThat(holder.store().release(held)).isTrue();
        if (guarantees().has(Guarantee.PUSH)) {
            await("the next one is signalled", () -> next.toldGranted().contains(second.id()));
        } else {
            next.awaitGrant(second);
        }
        assertThat(last.toldGranted()).isEmpty();
        assertThat(last.toldEnded()).isEmpty();
        assertThat(holder.toldGranted()).isEmpty();
        assertThat(holder.toldEnded()).as("who releases knows").isEmpty();
    }

    @Test
    void aReleaseAdmitsTheWholeGroupOfReadersAndDoesNotNotifyTheWriterAfterThem() throws Exception {
        needs(Mode.SHARED);
        SpiClient holder = client();
        SpiClient reader1 = client();
        SpiClient reader2 = client();
        SpiClient writer = client();
        Grant held = holder.hold(name(), exclusive());
        Claim first = reader1.queue(name(), shared());
        Claim second = reader2.queue(name(), shared());
        Claim third = writer.queue(name(), exclusive());
        assertThat(holder.store().release(held)).isTrue();
        reader1.awaitGrant(first);
        reader2.awaitGrant(second);
        assertThat(writer.toldGranted()).isEmpty();
        assertThat(writer.refresh(third)).isInstanceOf(Answer.Queued.class);
        assertThat(holders(name())).hasSize(2);
    }

    @Test
    void stepsPerAcquisitionDoNotGrowWithTheNumberOfWaiters() throws Exception {
        int few = stepsOf(2);
        int many = stepsOf(Tier.pick(50, 500));
        assertThat(few).isEqualTo(2);
        assertThat(many).as("a claim and a release each, as with few").isEqualTo(few);
    }

    /**
     * Steps for each acquisition when that many wait. A place in the queue may be asked about once when a signal says that it has
     * changed, and otherwise once in a third of the time that a waiter may be silent.
     */
    private int stepsOf(int waiters) throws Exception {
        String name = name("of" + waiters);
        LockOptions fair = veryLong().fair(true);
        AtomicInteger asked = new AtomicInteger();
        List<FaultyStore> stores = List.of(faulty(), faulty());
        List<Lockkeeper> keepers = new ArrayList<>();
        for (FaultyStore store : stores) {
            store.observe((kind, argument) -> {
                if (argument instanceof Renewals batch) {
                    asked.addAndGet(batch.queued().size());
                }
            });
            keepers.add(patient(store, VERY_PATIENT));
        }
        Lease holder = keeper().lock(name, fair).acquire();
        long began = System.nanoTime();
        List<Future<?>> all = new ArrayList<>();
        for (int i = 0; i < waiters; i++) {
            Lockkeeper keeper = keepers.get(i % 2);
            all.add(async(() -> {
                try (Lease lease = keeper.lock(name, fair).acquire()) {
                    assertThat(lease.isValid()).isTrue();
                }
                return null;
            }));
        }
        awaitWaiters(name, waiters);
        assertThat(holder.release()).isTrue();
        for (Future<?> one : all) {
            get(one);
        }
        long most = waiters * (1 + Duration.ofNanos(System.nanoTime() - began).toSeconds());
        assertThat(asked.get()).as("questions about places in the queue").isLessThanOrEqualTo((int) most);
        int steps = 0;
        for (FaultyStore store : stores) {
            assertThat(store.count(StepKind.WITHDRAW)).isZero();
            steps += store.count(StepKind.CLAIM) + store.count(StepKind.RELEASE);
        }
        assertThat(steps % waiters).isZero();
        return steps / waiters;
    }

    // ---- The short first lease ----

    @Test
    void aGrantThatWasHandedOverBeginsWithAShortLeaseThatTheFirstRenewalLengthens() throws Exception {
        SpiClient a = client();
        SpiClient b = client();
        Grant held = a.hold(name(), exclusive());
        Claim next = b.queue(name(), exclusive());
        assertThat(a.store().release(held)).isTrue();
        Answer.Granted granted = b.awaitGrant(next);
        assertThat(granted.confirmed()).isFalse();
        assertThat(granted.remaining()).isLessThanOrEqualTo(millis(Terms.FIRST_LEASE.toMillis()));
        Renewal.Outcome renewed = b.renew(Grant.of(next, granted), VERY_LONG);
        assertThat(renewed).isInstanceOf(Renewal.Kept.class);
        assertThat(((Renewal.Kept) renewed).remaining()).isGreaterThan(VERY_LONG.dividedBy(2));
        assertThat(SpiClient.granted(b.store().claim(next.asStray())).confirmed())
                .isTrue();
    }

    @Test
    void theFirstLeaseIsNoLongerThanTheLeaseThatWasAskedFor() throws Exception {
        Duration lease = millis(2_000);
        SpiClient a = client();
        SpiClient b = client();
        Grant held = a.hold(name(), exclusive());
        Claim next = b.queue(name(), lasting(exclusive(), lease));
        assertThat(a.store().release(held)).isTrue();
        assertThat(b.awaitGrant(next).remaining()).isLessThanOrEqualTo(lease);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    @DisplayName("H55: a grant that was never taken up ends soon, without lock-delay, with all its client had queued")
    void aGrantThatWasNeverTakenUpEndsSoonWithAllItsClientHadQueued(boolean shortLease) throws Exception {
        SpiClient holder = client();
        SpiClient dead = client();
        SpiClient lives = client();
        Terms terms = lasting(exclusive(), shortLease ? millis(300) : VERY_LONG);
        if (guarantees().has(Guarantee.LOCK_DELAY)) {
            terms = delaying(terms, Duration.ofMinutes(10));
        }
        Grant held = holder.hold(name(), exclusive());
        Claim first = dead.queue(name(), terms);
        Claim second = dead.queue(name(), terms);
        Claim next = lives.queue(name(), exclusive());
        Claim third = dead.queue(name(), terms);
        StoreTime before = holder.time(name());
        assertThat(holder.store().release(held)).isTrue();
        Answer.Granted after = lives.awaitGrant(next);
        assertThat(after.at().micros())
                .as("not before the first lease has ended")
                .isGreaterThanOrEqualTo(
                        before.plusMicros(terms.firstLease().toNanos() / 1_000).micros());
        assertThat(SpiClient.refused(dead.refresh(first))).isEqualTo(Answer.Why.GONE);
        assertThat(SpiClient.refused(dead.refresh(second))).isEqualTo(Answer.Why.GONE);
        assertThat(SpiClient.refused(dead.refresh(third))).isEqualTo(Answer.Why.GONE);
        assertThat(dead.toldGranted()).as("one after the other").doesNotContain(second.id(), third.id());
        assertThat(waiters(name())).isZero();
    }

    @Test
    void aGrantThatWasNeverTakenUpLeavesTheClientsOtherNamesAlone() throws Exception {
        SpiClient holder = client();
        SpiClient slow = client();
        Grant held = holder.hold(name("a"), exclusive());
        holder.hold(name("b"), exclusive());
        Claim first = slow.queue(name("a"), lasting(exclusive(), millis(200)));
        Claim other = slow.queue(name("b"), exclusive());
        Grant third = slow.hold(name("c"), exclusive());
        assertThat(holder.store().release(held)).isTrue();
        awaitIdle(name("a"));
        assertThat(SpiClient.refused(slow.refresh(first))).isEqualTo(Answer.Why.GONE);
        assertThat(holder.store().claim(holder.newClaim(name("a"), exclusive())))
                .isInstanceOf(Answer.Granted.class);
        assertThat(slow.refresh(other)).isInstanceOf(Answer.Queued.class);
        assertThat(holders(name("c"))).containsExactly(third.token());
    }

    @Test
    @DisplayName("H55: a dead process with many waiting threads stalls the queue once")
    void aDeadClientWithManyWaitersStallsTheQueueOnce() throws Exception {
        LockOptions fair = veryLong().fair(true);
        Lease holder = keeper().lock(name(), veryLong()).acquire();
        FaultyStore cutOff = faulty();
        Lockkeeper dead = patient(cutOff, VERY_PATIENT);
        int threads = 20; // one by one they would stall the queue for a minute
        for (int i = 0; i < threads; i++) {
            attempt(dead.lock(name(), fair)::acquire);
            awaitWaiters(name(), i + 1);
        }
        Attempt lives = attempt(keeper().lock(name(), veryLong())::acquire);
        awaitWaiters(name(), threads + 1);
        cutOff.down();
        assertThat(holder.release()).isTrue();
        Lease lease = lives.get().orElseThrow();
        assertThat(holders(name())).containsExactly(lease.token());
        assertThat(waiters(name())).isZero();
        assertThat(lease.release()).isTrue();
    }

    @Test
    void aWaiterThatTakesItsGrantUpKeepsItBeyondTheFirstLease() throws Exception {
        Lease holder = keeper().lock(name(), veryLong()).acquire();
        Attempt waiter = attempt(keeper().lock(name(), veryLong())::acquire);
        awaitWaiters(name(), 1);
        assertThat(holder.release()).isTrue();
        Lease lease = waiter.get().orElseThrow();
        await("the engine confirms it by itself", () -> inspect(name())
                .map(info -> info.holders().get(0))
                .map(LockInfo.Hold::expiresIn)
                .filter(left -> left.compareTo(VERY_LONG.dividedBy(2)) > 0)
                .isPresent());
        assertThat(lease.isValid()).isTrue();
        await("the engine has heard of it", () -> lease.remaining().compareTo(Terms.FIRST_LEASE) > 0);
        assertThat(lease.release()).isTrue();
    }

    @Test
    void aFixedLeaseThatWasHandedOverHasItsFullLength() throws Exception {
        Duration length = millis(20_000);
        Lease holder = keeper().lock(name(), veryLong()).acquire();
        Attempt waiter = attempt(keeper().lock(name(), LockOptions.defaults().fixedLease(length))::acquire);
        awaitWaiters(name(), 1);
        assertThat(holder.release()).isTrue();
        Lease lease = waiter.get().orElseThrow();
        assertThat(lease.remaining()).isGreaterThan(millis(Terms.FIRST_LEASE.toMillis()));
        assertThat(lease.release()).isTrue();
    }
}
