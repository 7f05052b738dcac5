// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck;

import io.lockkeeper.LockInfo;
import io.lockkeeper.spi.Answer;
import io.lockkeeper.spi.Claim;
import io.lockkeeper.spi.ClaimId;
import io.lockkeeper.spi.LockStore;
import io.lockkeeper.spi.Renewal;
import io.lockkeeper.spi.Renewals;
import io.lockkeeper.spi.Signals;
import io.lockkeeper.spi.Subscription;
import io.lockkeeper.spi.Terms;
import io.lockkeeper.testkit.ForwardingSignals;
import io.lockkeeper.testkit.ForwardingStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Stores whose answers differ from what they do, or that do something other than what was asked. */
final class WrongAnswers {
    private WrongAnswers() {}

    interface Retelling {
        Answer.Granted of(Answer.Granted granted);
    }

    interface Misreading {
        Terms of(Terms terms);
    }

    /** Reports grants with other values than they have. */
    static final class Retold extends ForwardingStore {
        private final Retelling retelling;

        Retold(LockStore inner, Retelling retelling) {
            super(inner);
            this.retelling = retelling;
        }

        private Answer retell(Answer answer) {
            return answer instanceof Answer.Granted granted ? retelling.of(granted) : answer;
        }

        @Override
        public Answer claim(Claim claim) {
            return retell(super.claim(claim));
        }

        @Override
        public Renewal renew(Renewals batch) {
            Renewal renewal = super.renew(batch);
            return new Renewal(
                    renewal.holds(), renewal.queued().stream().map(this::retell).toList(), renewal.at());
        }

        @Override
        public Subscription listen(String client, Signals signals) {
            return super.listen(client, new ForwardingSignals(signals) {
                @Override
                public void granted(ClaimId claim, Answer.Granted grant) {
                    super.granted(claim, retelling.of(grant));
                }
            });
        }
    }

    /** Treats claims as if they asked for something else. */
    static final class Misread extends ForwardingStore {
        private final Misreading misreading;

        Misread(LockStore inner, Misreading misreading) {
            super(inner);
            this.misreading = misreading;
        }

        private Claim misread(Claim claim) {
            return ChangedTerms.with(claim, misreading.of(claim.terms()));
        }

        @Override
        public Answer claim(Claim claim) {
            return super.claim(misread(claim));
        }

        @Override
        public Renewal renew(Renewals batch) {
            return super.renew(new Renewals(
                    batch.holds(), batch.queued().stream().map(this::misread).toList()));
        }
    }

    /** Says that leases last as long as was asked for; they last that many times as long. */
    static final class Lying extends ForwardingStore {
        private final double times;

        Lying(LockStore inner, double times) {
            super(inner);
            this.times = times;
        }

        private Duration inTruth(Duration asked) {
            return Duration.ofNanos((long) (asked.toNanos() * times));
        }

        private Duration told(Duration left) {
            return Duration.ofNanos((long) (left.toNanos() / times));
        }

        private Claim inTruth(Claim claim) {
            return ChangedTerms.with(
                    claim,
                    ChangedTerms.lease(claim.terms(), inTruth(claim.terms().lease())));
        }

        private Answer told(Answer answer) {
            return answer instanceof Answer.Granted g
                    ? new Answer.Granted(g.token(), g.block(), told(g.remaining()), g.confirmed(), g.at())
                    : answer;
        }

        private Renewal.Outcome told(Renewal.Outcome outcome) {
            return outcome instanceof Renewal.Kept kept ? new Renewal.Kept(told(kept.remaining())) : outcome;
        }

        private LockInfo told(LockInfo info) {
            List<LockInfo.Hold> holds = new ArrayList<>();
            for (LockInfo.Hold h : info.holders()) {
                holds.add(new LockInfo.Hold(
                        h.client(), h.label(), h.token(), h.permits(), h.since(), told(h.expiresIn())));
            }
            return new LockInfo(info.name(), info.mode(), info.limit(), holds, info.waiters(), info.closedFor());
        }

        @Override
        public Answer claim(Claim claim) {
            return told(super.claim(inTruth(claim)));
        }

        @Override
        public Renewal renew(Renewals batch) {
            Renewal renewal = super.renew(new Renewals(
                    batch.holds().stream()
                            .map(h -> new Renewals.Hold(h.grant(), inTruth(h.lease()), h.raiseTo()))
                            .toList(),
                    batch.queued()));
            return new Renewal(
                    renewal.holds().stream().map(this::told).toList(),
                    renewal.queued().stream().map(this::told).toList(),
                    renewal.at());
        }

        @Override
        public Optional<LockInfo> inspect(String name) {
            return super.inspect(name).map(this::told);
        }

        @Override
        public List<LockInfo> list(String prefix, int limit) {
            return super.list(prefix, limit).stream().map(this::told).toList();
        }
    }
}
