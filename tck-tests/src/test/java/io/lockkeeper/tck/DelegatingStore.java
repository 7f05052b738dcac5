// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck;

import io.lockkeeper.Guarantees;
import io.lockkeeper.LockInfo;
import io.lockkeeper.Sequencer;
import io.lockkeeper.spi.Answer;
import io.lockkeeper.spi.Claim;
import io.lockkeeper.spi.Grant;
import io.lockkeeper.spi.LatchState;
import io.lockkeeper.spi.LatchStep;
import io.lockkeeper.spi.Liveness;
import io.lockkeeper.spi.LockStore;
import io.lockkeeper.spi.Renewal;
import io.lockkeeper.spi.Renewals;
import io.lockkeeper.spi.Signals;
import io.lockkeeper.spi.StoreTime;
import io.lockkeeper.spi.Subscription;
import io.lockkeeper.spi.Ticker;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** A store that does what another one does: to be broken in one place. */
class DelegatingStore implements LockStore {
    final LockStore inner;

    DelegatingStore(LockStore inner) {
        this.inner = inner;
    }

    @Override
    public String id() {
        return inner.id();
    }

    @Override
    public Guarantees guarantees() {
        return inner.guarantees();
    }

    @Override
    public StoreTime time(Object lane) {
        return inner.time(lane);
    }

    @Override
    public Answer claim(Claim claim) {
        return inner.claim(claim);
    }

    @Override
    public Renewal renew(Renewals batch) {
        return inner.renew(batch);
    }

    @Override
    public boolean release(Grant grant) {
        return inner.release(grant);
    }

    @Override
    public Optional<Grant> downgrade(Grant grant) {
        return inner.downgrade(grant);
    }

    @Override
    public void withdraw(Claim claim) {
        inner.withdraw(claim);
    }

    @Override
    public LatchState latch(LatchStep step) {
        return inner.latch(step);
    }

    @Override
    public Optional<LockInfo> inspect(String name) {
        return inner.inspect(name);
    }

    @Override
    public List<LockInfo> list(String prefix, int limit) {
        return inner.list(prefix, limit);
    }

    @Override
    public boolean check(Sequencer sequencer) {
        return inner.check(sequencer);
    }

    @Override
    public boolean breakHold(String name, long token, Duration lockDelay, boolean now) {
        return inner.breakHold(name, token, lockDelay, now);
    }

    @Override
    public Subscription listen(String client, Signals signals) {
        return inner.listen(client, signals);
    }

    @Override
    public Object lane(String name) {
        return inner.lane(name);
    }

    @Override
    public boolean canDecideClaims() {
        return inner.canDecideClaims();
    }

    @Override
    public Liveness liveness(Claim claim) {
        return inner.liveness(claim);
    }

    @Override
    public Duration skew() {
        return inner.skew();
    }

    @Override
    public Ticker ticker() {
        return inner.ticker();
    }

    @Override
    public void close() {
        inner.close();
    }
}
