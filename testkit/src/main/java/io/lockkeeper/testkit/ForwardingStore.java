// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testkit;

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

/**
 * A store that passes on every step to another one: extend it to count, change or break single steps. To make steps fail, use
 * {@link FaultyStore}.
 */
public class ForwardingStore implements LockStore {
    private final LockStore target;

    /** Passes on everything to {@code target}. */
    public ForwardingStore(LockStore target) {
        this.target = target;
    }

    /** The store that the steps are passed on to. */
    protected final LockStore target() {
        return target;
    }

    @Override
    public String id() {
        return target.id();
    }

    @Override
    public Guarantees guarantees() {
        return target.guarantees();
    }

    @Override
    public StoreTime time(Object lane) {
        return target.time(lane);
    }

    @Override
    public Answer claim(Claim claim) {
        return target.claim(claim);
    }

    @Override
    public Renewal renew(Renewals batch) {
        return target.renew(batch);
    }

    @Override
    public boolean release(Grant grant) {
        return target.release(grant);
    }

    @Override
    public Optional<Grant> downgrade(Grant grant) {
        return target.downgrade(grant);
    }

    @Override
    public void withdraw(Claim claim) {
        target.withdraw(claim);
    }

    @Override
    public LatchState latch(LatchStep step) {
        return target.latch(step);
    }

    @Override
    public Optional<LockInfo> inspect(String name) {
        return target.inspect(name);
    }

    @Override
    public List<LockInfo> list(String prefix, int limit) {
        return target.list(prefix, limit);
    }

    @Override
    public boolean check(Sequencer sequencer) {
        return target.check(sequencer);
    }

    @Override
    public boolean breakHold(String name, long token, Duration lockDelay, boolean now) {
        return target.breakHold(name, token, lockDelay, now);
    }

    @Override
    public Subscription listen(String client, Signals signals) {
        return target.listen(client, signals);
    }

    @Override
    public Object lane(String name) {
        return target.lane(name);
    }

    @Override
    public boolean canDecideClaims() {
        return target.canDecideClaims();
    }

    @Override
    public Liveness liveness(Claim claim) {
        return target.liveness(claim);
    }

    @Override
    public Duration skew() {
        return target.skew();
    }

    @Override
    public Ticker ticker() {
        return target.ticker();
    }

    @Override
    public void close() {
        target.close();
    }
}
