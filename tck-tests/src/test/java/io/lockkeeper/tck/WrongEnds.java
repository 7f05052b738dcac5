// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck;

import io.lockkeeper.spi.Answer;
import io.lockkeeper.spi.Claim;
import io.lockkeeper.spi.Grant;
import io.lockkeeper.spi.LockStore;
import io.lockkeeper.spi.Renewal;
import io.lockkeeper.spi.Renewals;
import io.lockkeeper.tck.BrokenStores.Breakage;
import io.lockkeeper.testkit.ForwardingStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Stores with a mistake in how holds are renewed and end. */
final class WrongEnds {
    private WrongEnds() {}

    /** A release ends any hold, whoever has it. */
    static final class NoOwnerCheck implements Breakage {
        private final Map<String, Grant> holders = new ConcurrentHashMap<>();

        @Override
        public LockStore on(LockStore inner) {
            return new ForwardingStore(inner) {
                @Override
                public Answer claim(Claim claim) {
                    Answer answer = super.claim(claim);
                    if (answer instanceof Answer.Granted granted) {
                        holders.put(claim.name(), Grant.of(claim, granted));
                    }
                    return answer;
                }

                @Override
                public boolean release(Grant grant) {
                    Grant holder = holders.remove(grant.claim().name());
                    return super.release(holder == null ? grant : holder);
                }
            };
        }
    }

    /** A renewal reports success and does nothing. */
    static final class RenewalForgotten extends ForwardingStore {
        RenewalForgotten(LockStore inner) {
            super(inner);
        }

        @Override
        public Renewal renew(Renewals batch) {
            List<Renewals.Hold> unchanged = new ArrayList<>();
            for (Renewals.Hold hold : batch.holds()) {
                unchanged.add(new Renewals.Hold(hold.grant(), Duration.ofMillis(1), hold.raiseTo()));
            }
            return super.renew(new Renewals(unchanged, batch.queued()));
        }
    }

    /** A renewal of a hold that has ended begins it again. */
    static final class RenewalRevives extends ForwardingStore {
        RenewalRevives(LockStore inner) {
            super(inner);
        }

        @Override
        public Renewal renew(Renewals batch) {
            batch.holds().forEach(hold -> super.claim(hold.grant().claim()));
            return super.renew(batch);
        }
    }

    /** Refreshing a queued claim confirms its grant. */
    static final class RefreshConfirms extends ForwardingStore {
        RefreshConfirms(LockStore inner) {
            super(inner);
        }

        @Override
        public Renewal renew(Renewals batch) {
            List<Renewals.Hold> more = new ArrayList<>();
            for (Claim claim : batch.queued()) {
                Grant grant = new Grant(claim, claim.terms().mode(), 1, 1);
                more.add(new Renewals.Hold(grant, claim.terms().lease(), 0));
            }
            super.renew(new Renewals(more, List.of()));
            return super.renew(batch);
        }
    }

    /** A break does not wait for the holder. */
    static final class BreakAtOnce extends ForwardingStore {
        BreakAtOnce(LockStore inner) {
            super(inner);
        }

        @Override
        public boolean breakHold(String name, long token, Duration lockDelay, boolean now) {
            return super.breakHold(name, token, lockDelay, true);
        }
    }
}
