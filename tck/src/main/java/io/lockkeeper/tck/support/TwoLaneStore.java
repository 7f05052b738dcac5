// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck.support;

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
import io.lockkeeper.testkit.FaultyStore;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * One store made of two connections that fail independently: names that contain {@link #SICK} use one, all others the
 * other. Both reach the same locks.
 */
public final class TwoLaneStore implements LockStore {
    /** What marks the names of the lane that is made to fail. */
    public static final String SICK = "sick";

    private final FaultyStore sick;
    private final FaultyStore healthy;

    /** A lane of one of the two; a store may have several itself. */
    private record Lane(FaultyStore side, Object inner) {}

    public TwoLaneStore(FaultyStore sick, FaultyStore healthy) {
        this.sick = sick;
        this.healthy = healthy;
    }

    private FaultyStore side(String name) {
        return name.contains(SICK) ? sick : healthy;
    }

    @Override
    public Object lane(String name) {
        FaultyStore side = side(name);
        return new Lane(side, side.lane(name));
    }

    @Override
    public StoreTime time(Object lane) {
        Lane of = (Lane) lane;
        return of.side().time(of.inner());
    }

    @Override
    public Answer claim(Claim claim) {
        return side(claim.name()).claim(claim);
    }

    @Override
    public Renewal renew(Renewals batch) {
        String name = batch.holds().isEmpty()
                ? batch.queued().get(0).name()
                : batch.holds().get(0).grant().claim().name();
        return side(name).renew(batch);
    }

    @Override
    public boolean release(Grant grant) {
        return side(grant.claim().name()).release(grant);
    }

    @Override
    public Optional<Grant> downgrade(Grant grant) {
        return side(grant.claim().name()).downgrade(grant);
    }

    @Override
    public void withdraw(Claim claim) {
        side(claim.name()).withdraw(claim);
    }

    @Override
    public LatchState latch(LatchStep step) {
        return side(step.name()).latch(step);
    }

    @Override
    public Optional<LockInfo> inspect(String name) {
        return side(name).inspect(name);
    }

    @Override
    public List<LockInfo> list(String prefix, int limit) {
        return healthy.list(prefix, limit);
    }

    @Override
    public boolean check(Sequencer sequencer) {
        return side(sequencer.name()).check(sequencer);
    }

    @Override
    public boolean breakHold(String name, long token, Duration lockDelay, boolean now) {
        return side(name).breakHold(name, token, lockDelay, now);
    }

    /** The healthy one last: of two connections that listen for one client, a store may serve the later alone. */
    @Override
    public Subscription listen(String client, Signals signals) {
        Subscription first = sick.listen(client, signals);
        Subscription second = healthy.listen(client, signals);
        return () -> {
            second.close();
            first.close();
        };
    }

    @Override
    public String id() {
        return healthy.id();
    }

    @Override
    public Guarantees guarantees() {
        return healthy.guarantees();
    }

    @Override
    public boolean canDecideClaims() {
        return healthy.canDecideClaims();
    }

    @Override
    public Liveness liveness(Claim claim) {
        return side(claim.name()).liveness(claim);
    }

    @Override
    public Duration skew() {
        return healthy.skew();
    }

    @Override
    public Ticker ticker() {
        return healthy.ticker();
    }

    @Override
    public void close() {}
}
