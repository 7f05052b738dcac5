// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck;

import io.lockkeeper.Mode;
import io.lockkeeper.spi.Answer;
import io.lockkeeper.spi.Claim;
import io.lockkeeper.spi.ClaimId;
import io.lockkeeper.spi.Grant;
import io.lockkeeper.spi.LatchState;
import io.lockkeeper.spi.LatchStep;
import io.lockkeeper.spi.LockStore;
import io.lockkeeper.spi.Renewal;
import io.lockkeeper.spi.Renewals;
import io.lockkeeper.spi.Terms;
import io.lockkeeper.testkit.ForwardingStore;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/** Stores with a mistake in which claims they grant, or in how they know a repeated step. */
final class WrongClaims {
    private WrongClaims() {}

    /** Ignores ids: a repeated claim is a new one. */
    static final class SecondGrant extends ForwardingStore {
        private static final AtomicLong COPIES = new AtomicLong(1_000_000_000);
        private final Map<ClaimId, Claim> latest = new ConcurrentHashMap<>();

        SecondGrant(LockStore inner) {
            super(inner);
        }

        @Override
        public Answer claim(Claim claim) {
            Claim sent = latest.containsKey(claim.id())
                    ? new Claim(
                            claim.name(),
                            new ClaimId(claim.id().client(), COPIES.incrementAndGet()),
                            claim.terms(),
                            claim.deadline(),
                            claim.stray())
                    : claim;
            latest.put(claim.id(), sent);
            return super.claim(sent);
        }
    }

    /** Remembers no id that was withdrawn or released. */
    static final class Ghosts extends ForwardingStore {
        Ghosts(LockStore inner) {
            super(inner);
        }

        private static Claim forgettable(Claim claim) {
            return new Claim(claim.name(), claim.id(), claim.terms(), claim.deadline(), false);
        }

        @Override
        public Answer claim(Claim claim) {
            return super.claim(forgettable(claim));
        }

        @Override
        public boolean release(Grant g) {
            return super.release(new Grant(forgettable(g.claim()), g.mode(), g.token(), g.block()));
        }

        @Override
        public void withdraw(Claim claim) {
            super.withdraw(forgettable(claim));
        }
    }

    /** Readers and writers do not exclude each other. */
    static final class ReadersBesideWriters extends ForwardingStore {
        ReadersBesideWriters(LockStore inner) {
            super(inner);
        }

        private static Claim apart(Claim claim) {
            return claim.terms().mode() == Mode.SHARED
                    ? new Claim(claim.name() + "/r", claim.id(), claim.terms(), claim.deadline(), claim.stray())
                    : claim;
        }

        private static Grant apart(Grant g) {
            return new Grant(apart(g.claim()), g.mode(), g.token(), g.block());
        }

        @Override
        public Answer claim(Claim claim) {
            return super.claim(apart(claim));
        }

        @Override
        public boolean release(Grant grant) {
            return super.release(apart(grant));
        }

        @Override
        public void withdraw(Claim claim) {
            super.withdraw(apart(claim));
        }

        @Override
        public Renewal renew(Renewals batch) {
            return super.renew(new Renewals(
                    batch.holds().stream()
                            .map(h -> new Renewals.Hold(apart(h.grant()), h.lease(), h.raiseTo()))
                            .toList(),
                    batch.queued().stream().map(ReadersBesideWriters::apart).toList()));
        }
    }

    /** Grants one permit too many. */
    static final class TooManyPermits extends ForwardingStore {
        TooManyPermits(LockStore inner) {
            super(inner);
        }

        @Override
        public Answer claim(Claim claim) {
            Terms t = claim.terms();
            int limit = t.mode() == Mode.PERMITS ? t.limit() + 1 : t.limit();
            return super.claim(ChangedTerms.with(
                    claim, ChangedTerms.terms(t, t.mode(), limit, t.lease(), t.lockDelay(), t.patience())));
        }
    }

    /** Counts a latch down for every step it gets, copies included. */
    static final class LatchCountsCopies extends ForwardingStore {
        private static final AtomicLong COPIES = new AtomicLong();

        LatchCountsCopies(LockStore inner) {
            super(inner);
        }

        @Override
        public LatchState latch(LatchStep step) {
            return super.latch(
                    step instanceof LatchStep.CountDown down
                            ? new LatchStep.CountDown(
                                    down.name(), new ClaimId("copy", COPIES.incrementAndGet()), down.deadline())
                            : step);
        }
    }
}
