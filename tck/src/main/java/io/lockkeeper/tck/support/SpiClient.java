// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck.support;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.LeaseLost;
import io.lockkeeper.spi.Answer;
import io.lockkeeper.spi.Claim;
import io.lockkeeper.spi.ClaimId;
import io.lockkeeper.spi.Grant;
import io.lockkeeper.spi.LockStore;
import io.lockkeeper.spi.Renewal;
import io.lockkeeper.spi.Renewals;
import io.lockkeeper.spi.Signals;
import io.lockkeeper.spi.StoreTime;
import io.lockkeeper.spi.Subscription;
import io.lockkeeper.spi.Terms;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

/** A client without an engine: it makes exactly the steps that a test asks for, and records the signals it gets. */
public final class SpiClient implements Signals, AutoCloseable {
    /** Claims of the contract are not refused as late by a store that is merely slow. */
    private static final Duration DEADLINE = Duration.ofSeconds(20);

    private final LockStore store;
    private final Subscription subscription;
    private final String id = UUID.randomUUID().toString().replace("-", "");
    private final AtomicLong claims = new AtomicLong();
    private final Queue<Claim> made = new ConcurrentLinkedQueue<>();
    private final Queue<ClaimId> granted = new ConcurrentLinkedQueue<>();
    private final Queue<ClaimId> ended = new ConcurrentLinkedQueue<>();

    public SpiClient(LockStore store) {
        this.store = store;
        this.subscription = store.listen(id, this);
    }

    public LockStore store() {
        return store;
    }

    public StoreTime time(String name) {
        return store.time(store.lane(name));
    }

    /** A new claim, not yet sent. */
    public Claim newClaim(String name, Terms terms) {
        return newClaim(name, terms, time(name).plusMicros(DEADLINE.toNanos() / 1_000));
    }

    /** A new claim with this deadline, not yet sent. */
    public Claim newClaim(String name, Terms terms, StoreTime deadline) {
        Claim claim = new Claim(name, new ClaimId(id, claims.incrementAndGet()), terms, deadline, false);
        made.add(claim);
        return claim;
    }

    /** Claims, and must be granted. */
    public Grant hold(String name, Terms terms) {
        Claim claim = newClaim(name, terms);
        return Grant.of(claim, granted(store.claim(claim)));
    }

    /** Claims, and must be queued. */
    public Claim queue(String name, Terms terms) {
        Claim claim = newClaim(name, terms);
        assertThat(store.claim(claim)).isInstanceOf(Answer.Queued.class);
        return claim;
    }

    /** Where a queued claim stands. Asking keeps it in the queue, and confirms nothing. */
    public Answer refresh(Claim claim) {
        return store.renew(new Renewals(List.of(), List.of(claim))).queued().get(0);
    }

    /** Renews one hold. */
    public Renewal.Outcome renew(Grant grant, Duration lease) {
        return store.renew(new Renewals(List.of(new Renewals.Hold(grant, lease, 0)), List.of()))
                .holds()
                .get(0);
    }

    /** Waits until a queued claim is granted, asking again and again: signals are not relied upon. */
    public Answer.Granted awaitGrant(Claim claim) throws InterruptedException {
        AtomicReference<Answer> found = new AtomicReference<>(refresh(claim));
        Contract.await("a grant of " + claim.id(), () -> {
            if (found.get() instanceof Answer.Granted) {
                return true;
            }
            found.set(refresh(claim));
            return false;
        });
        return granted(Objects.requireNonNull(found.get()));
    }

    /** The claims that were signalled to this client as granted or changed, in that order. */
    public List<ClaimId> toldGranted() {
        return List.copyOf(granted);
    }

    /** The claims that were signalled to this client as recalled or lost. */
    public List<ClaimId> toldEnded() {
        return List.copyOf(ended);
    }

    public static Answer.Granted granted(Answer answer) {
        assertThat(answer).isInstanceOf(Answer.Granted.class);
        return (Answer.Granted) answer;
    }

    public static Answer.Queued queued(Answer answer) {
        assertThat(answer).isInstanceOf(Answer.Queued.class);
        return (Answer.Queued) answer;
    }

    public static Answer.Why refused(Answer answer) {
        assertThat(answer).isInstanceOf(Answer.Refused.class);
        return ((Answer.Refused) answer).why();
    }

    @Override
    public void granted(ClaimId claim, Answer.Granted grant) {
        granted.add(claim);
    }

    @Override
    public void recalled(ClaimId claim) {
        ended.add(claim);
    }

    @Override
    public void changed(ClaimId claim) {
        granted.add(claim);
    }

    @Override
    public void lost(ClaimId claim, LeaseLost.Reason reason) {
        ended.add(claim);
    }

    @Override
    public void opened(String latch) {}

    @Override
    public void sessionLost(String why) {}

    @Override
    public void missed() {}

    /** Releases everything it still has. */
    @Override
    public void close() {
        made.forEach(store::withdraw);
        subscription.close();
    }
}
