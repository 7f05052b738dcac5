// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck;

import io.lockkeeper.LockInfo;
import io.lockkeeper.Mode;
import io.lockkeeper.memory.MemoryCore;
import io.lockkeeper.memory.MemoryStore;
import io.lockkeeper.spi.Answer;
import io.lockkeeper.spi.Claim;
import io.lockkeeper.spi.ClaimId;
import io.lockkeeper.spi.Grant;
import io.lockkeeper.spi.LatchState;
import io.lockkeeper.spi.LatchStep;
import io.lockkeeper.spi.LockStore;
import io.lockkeeper.spi.Renewal;
import io.lockkeeper.spi.Renewals;
import io.lockkeeper.spi.Signals;
import io.lockkeeper.spi.Subscription;
import io.lockkeeper.spi.Terms;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;

/**
 * Stores with one mistake each, of those that people make. What the clients of one store have to know of each other for
 * that is in fields of the fault's own object, one for all connections.
 */
final class BrokenStores {
    private BrokenStores() {}

    /** The connections to one store with this fault. */
    static Supplier<LockStore> connections(Fault fault) {
        MemoryCore core = MemoryCore.system();
        Breakage breakage = fault.breakage.get();
        return () -> breakage.on(new MemoryStore(core));
    }

    @SuppressWarnings("ImmutableEnumChecker")
    enum Fault {
        NONE(() -> DelegatingStore::new),
        NO_OWNER_CHECK(NoOwnerCheck::new),
        TOKEN_REPEATS(() -> inner -> new Retold(inner, granted -> token(granted, 7))),
        TOKEN_FALLS(() -> inner -> new Retold(inner, granted -> token(granted, 1_000_000_000 - granted.token()))),
        BLOCKS_OVERLAP(() -> inner -> new Retold(inner, granted -> block(granted, 64))),
        LETS_GO_EARLY(() -> inner -> new Lying(inner, 0.25)),
        NEVER_LETS_GO(() -> inner -> new Lying(inner, 1_000)),
        ENDLESS_PATIENCE(() -> inner -> new Misread(inner, terms -> patience(terms, Duration.ofHours(9)))),
        NO_LOCK_DELAY(() -> inner -> new Misread(inner, terms -> lockDelay(terms, Duration.ZERO))),
        WAKE_UP_LOST(() -> WakeUpLost::new),
        WAKE_UP_FOR_ALL(WakeUpForAll::new),
        NO_HAND_OVER(() -> NoHandOver::new),
        SECOND_GRANT(() -> SecondGrant::new),
        GHOSTS(() -> Ghosts::new),
        READERS_BESIDE_WRITERS(() -> ReadersBesideWriters::new),
        TOO_MANY_PERMITS(() -> TooManyPermits::new),
        NOT_IN_ORDER(NotInOrder::new),
        KEEPS_SILENT_WAITERS(KeepsSilentWaiters::new),
        SKIPS_LIVE_WAITERS(() -> SkipsLiveWaiters::new),
        RENEWAL_FORGOTTEN(() -> RenewalForgotten::new),
        RENEWAL_REVIVES(() -> RenewalRevives::new),
        REFRESH_CONFIRMS(() -> RefreshConfirms::new),
        BREAK_AT_ONCE(() -> BreakAtOnce::new),
        LATCH_COUNTS_COPIES(() -> LatchCountsCopies::new);

        private final Supplier<Breakage> breakage;

        Fault(Supplier<Breakage> breakage) {
            this.breakage = breakage;
        }
    }

    /** Makes a connection broken. */
    interface Breakage {
        LockStore on(LockStore inner);
    }

    // ---- Answers and terms, changed ----

    private interface Retelling {
        Answer.Granted of(Answer.Granted granted);
    }

    private interface Misreading {
        Terms of(Terms terms);
    }

    private static Answer.Granted token(Answer.Granted g, long token) {
        return new Answer.Granted(token, g.block(), g.remaining(), g.confirmed(), g.at());
    }

    private static Answer.Granted block(Answer.Granted g, int block) {
        return new Answer.Granted(g.token(), block, g.remaining(), g.confirmed(), g.at());
    }

    private static Claim with(Claim claim, Terms terms) {
        return new Claim(claim.name(), claim.id(), terms, claim.deadline(), claim.stray());
    }

    private static Terms lease(Terms t, Duration lease) {
        return terms(t, t.mode(), t.limit(), lease, t.lockDelay(), t.patience());
    }

    private static Terms patience(Terms t, Duration patience) {
        return terms(t, t.mode(), t.limit(), t.lease(), t.lockDelay(), patience);
    }

    private static Terms lockDelay(Terms t, Duration lockDelay) {
        return terms(t, t.mode(), t.limit(), t.lease(), lockDelay, t.patience());
    }

    private static Terms terms(Terms t, Mode mode, int limit, Duration lease, Duration lockDelay, Duration patience) {
        return new Terms(
                mode, t.permits(), limit, lease, lockDelay, patience, t.block(), t.queue(), t.client(), t.label());
    }

    /** Tells grants otherwise than they are. */
    private static final class Retold extends DelegatingStore {
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
            return super.listen(client, new DelegatingSignals(signals) {
                @Override
                public void granted(ClaimId claim, Answer.Granted grant) {
                    super.granted(claim, retelling.of(grant));
                }
            });
        }
    }

    /** Takes claims to ask for something else. */
    private static final class Misread extends DelegatingStore {
        private final Misreading misreading;

        Misread(LockStore inner, Misreading misreading) {
            super(inner);
            this.misreading = misreading;
        }

        private Claim misread(Claim claim) {
            return with(claim, misreading.of(claim.terms()));
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

    // ---- Ends ----

    /** Whoever releases releases whoever holds. */
    private static final class NoOwnerCheck implements Breakage {
        private final Map<String, Grant> holders = new ConcurrentHashMap<>();

        @Override
        public LockStore on(LockStore inner) {
            return new DelegatingStore(inner) {
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

    /** Says that leases last as long as was asked for; they last that many times as long. */
    private static final class Lying extends DelegatingStore {
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
            return with(claim, lease(claim.terms(), inTruth(claim.terms().lease())));
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

    /** A renewal says yes and does nothing. */
    private static final class RenewalForgotten extends DelegatingStore {
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

    /** A renewal of a hold that has ended begins it anew. */
    private static final class RenewalRevives extends DelegatingStore {
        RenewalRevives(LockStore inner) {
            super(inner);
        }

        @Override
        public Renewal renew(Renewals batch) {
            batch.holds().forEach(hold -> super.claim(hold.grant().claim()));
            return super.renew(batch);
        }
    }

    /** Looking at a queued claim takes its grant up. */
    private static final class RefreshConfirms extends DelegatingStore {
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
    private static final class BreakAtOnce extends DelegatingStore {
        BreakAtOnce(LockStore inner) {
            super(inner);
        }

        @Override
        public boolean breakHold(String name, long token, Duration lockDelay, boolean now) {
            return super.breakHold(name, token, lockDelay, true);
        }
    }

    // ---- Hand-over ----

    /** Hands over, and tells nobody. */
    private static final class WakeUpLost extends DelegatingStore {
        WakeUpLost(LockStore inner) {
            super(inner);
        }

        @Override
        public Subscription listen(String client, Signals signals) {
            return super.listen(client, new DelegatingSignals(signals) {
                @Override
                public void granted(ClaimId claim, Answer.Granted grant) {}
            });
        }
    }

    /** Tells all waiting clients of each grant: a herd. */
    private static final class WakeUpForAll implements Breakage {
        private final ConcurrentLinkedQueue<Signals> all = new ConcurrentLinkedQueue<>();

        @Override
        public LockStore on(LockStore inner) {
            return new DelegatingStore(inner) {
                @Override
                public Subscription listen(String client, Signals signals) {
                    all.add(signals);
                    return super.listen(client, new DelegatingSignals(signals) {
                        @Override
                        public void granted(ClaimId claim, Answer.Granted grant) {
                            all.forEach(listener -> listener.granted(claim, grant));
                        }
                    });
                }
            };
        }
    }

    /** A release frees the name, but those who wait are never let in. */
    private static final class NoHandOver extends DelegatingStore {
        NoHandOver(LockStore inner) {
            super(inner);
        }

        @Override
        public Renewal renew(Renewals batch) {
            Renewal renewal = super.renew(batch);
            List<Answer> queued = new ArrayList<>();
            for (Answer answer : renewal.queued()) {
                boolean handedOver = answer instanceof Answer.Granted granted && !granted.confirmed();
                queued.add(handedOver ? new Answer.Queued(0, Duration.ofSeconds(1), renewal.at()) : answer);
            }
            return new Renewal(renewal.holds(), queued, renewal.at());
        }

        @Override
        public Subscription listen(String client, Signals signals) {
            return new WakeUpLost(inner).listen(client, signals);
        }
    }

    /** Takes all who wait for refreshed whenever it hands over. */
    private static final class KeepsSilentWaiters implements Breakage {
        private final Map<String, ConcurrentLinkedQueue<Claim>> queues = new ConcurrentHashMap<>();

        @Override
        public LockStore on(LockStore inner) {
            return new DelegatingStore(inner) {
                @Override
                public Answer claim(Claim claim) {
                    Answer answer = super.claim(claim);
                    if (answer instanceof Answer.Queued) {
                        queues.computeIfAbsent(claim.name(), n -> new ConcurrentLinkedQueue<>())
                                .add(claim);
                    }
                    return answer;
                }

                @Override
                public boolean release(Grant grant) {
                    boolean released = super.release(grant);
                    ConcurrentLinkedQueue<Claim> queue =
                            queues.get(grant.claim().name());
                    if (queue != null) {
                        super.renew(new Renewals(List.of(), List.copyOf(queue)));
                    }
                    return released;
                }
            };
        }
    }

    /** Believes that a refresh was sent long before it came. */
    private static final class SkipsLiveWaiters extends DelegatingStore {
        private static final Duration LATE = Duration.ofSeconds(10);

        SkipsLiveWaiters(LockStore inner) {
            super(inner);
        }

        private static Claim late(Claim claim) {
            Duration patience = claim.terms().patience();
            return patience.compareTo(LATE) > 0
                    ? with(claim, BrokenStores.patience(claim.terms(), patience.minus(LATE)))
                    : claim;
        }

        @Override
        public Renewal renew(Renewals batch) {
            return super.renew(new Renewals(
                    batch.holds(),
                    batch.queued().stream().map(SkipsLiveWaiters::late).toList()));
        }
    }

    /** Lets the second in the queue in before the first. */
    private static final class NotInOrder implements Breakage {
        private final Map<String, ConcurrentLinkedQueue<Claim>> queues = new ConcurrentHashMap<>();

        @Override
        public LockStore on(LockStore inner) {
            return new DelegatingStore(inner) {
                @Override
                public Answer claim(Claim claim) {
                    Answer answer = super.claim(claim);
                    if (answer instanceof Answer.Queued) {
                        queues.computeIfAbsent(claim.name(), n -> new ConcurrentLinkedQueue<>())
                                .add(claim);
                    }
                    return answer;
                }

                @Override
                public boolean release(Grant grant) {
                    ConcurrentLinkedQueue<Claim> queue =
                            queues.get(grant.claim().name());
                    Claim first = queue == null ? null : queue.poll();
                    if (first != null && isQueued(first)) {
                        withdraw(first);
                        claim(first); // to the end of the queue
                    }
                    return super.release(grant);
                }

                private boolean isQueued(Claim claim) {
                    Renewal renewal = super.renew(new Renewals(List.of(), List.of(claim)));
                    return renewal.queued().get(0) instanceof Answer.Queued;
                }
            };
        }
    }

    // ---- Claims ----

    /** Knows no ids: a repeated claim is a new one. */
    private static final class SecondGrant extends DelegatingStore {
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
    private static final class Ghosts extends DelegatingStore {
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

    /** Readers and writers do not see each other. */
    private static final class ReadersBesideWriters extends DelegatingStore {
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

    /** Has one permit more than it should. */
    private static final class TooManyPermits extends DelegatingStore {
        TooManyPermits(LockStore inner) {
            super(inner);
        }

        @Override
        public Answer claim(Claim claim) {
            Terms t = claim.terms();
            int limit = t.mode() == Mode.PERMITS ? t.limit() + 1 : t.limit();
            return super.claim(with(claim, terms(t, t.mode(), limit, t.lease(), t.lockDelay(), t.patience())));
        }
    }

    /** Counts a latch down as often as it is told, copies included. */
    private static final class LatchCountsCopies extends DelegatingStore {
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
