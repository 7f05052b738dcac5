// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck;

import io.lockkeeper.spi.Answer;
import io.lockkeeper.spi.Claim;
import io.lockkeeper.spi.ClaimId;
import io.lockkeeper.spi.Grant;
import io.lockkeeper.spi.LockStore;
import io.lockkeeper.spi.Renewal;
import io.lockkeeper.spi.Renewals;
import io.lockkeeper.spi.Signals;
import io.lockkeeper.spi.Subscription;
import io.lockkeeper.tck.BrokenStores.Breakage;
import io.lockkeeper.testkit.ForwardingSignals;
import io.lockkeeper.testkit.ForwardingStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;

/** Stores with a mistake in the queue, or in how a name is handed over. */
final class WrongHandOvers {
    private WrongHandOvers() {}

    /** Hands over without a signal. */
    static final class WakeUpLost extends ForwardingStore {
        WakeUpLost(LockStore inner) {
            super(inner);
        }

        @Override
        public Subscription listen(String client, Signals signals) {
            return super.listen(client, new ForwardingSignals(signals) {
                @Override
                public void granted(ClaimId claim, Answer.Granted grant) {}
            });
        }
    }

    /** Signals each grant to all waiting clients: a thundering herd. */
    static final class WakeUpForAll implements Breakage {
        private final ConcurrentLinkedQueue<Signals> all = new ConcurrentLinkedQueue<>();

        @Override
        public LockStore on(LockStore inner) {
            return new ForwardingStore(inner) {
                @Override
                public Subscription listen(String client, Signals signals) {
                    all.add(signals);
                    return super.listen(client, new ForwardingSignals(signals) {
                        @Override
                        public void granted(ClaimId claim, Answer.Granted grant) {
                            all.forEach(listener -> listener.granted(claim, grant));
                        }
                    });
                }
            };
        }
    }

    /** A release frees the name, but waiters are never granted it. */
    static final class NoHandOver extends ForwardingStore {
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
            return new WakeUpLost(target()).listen(client, signals);
        }
    }

    /** Treats all waiters as refreshed whenever it hands over. */
    static final class KeepsSilentWaiters implements Breakage {
        private final Map<String, ConcurrentLinkedQueue<Claim>> queues = new ConcurrentHashMap<>();

        @Override
        public LockStore on(LockStore inner) {
            return new ForwardingStore(inner) {
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
    static final class SkipsLiveWaiters extends ForwardingStore {
        private static final Duration LATE = Duration.ofSeconds(10);

        SkipsLiveWaiters(LockStore inner) {
            super(inner);
        }

        private static Claim late(Claim claim) {
            Duration patience = claim.terms().patience();
            return patience.compareTo(LATE) > 0
                    ? ChangedTerms.with(claim, ChangedTerms.patience(claim.terms(), patience.minus(LATE)))
                    : claim;
        }

        @Override
        public Renewal renew(Renewals batch) {
            return super.renew(new Renewals(
                    batch.holds(),
                    batch.queued().stream().map(SkipsLiveWaiters::late).toList()));
        }
    }

    /** Grants the second claim in the queue before the first. */
    static final class NotInOrder implements Breakage {
        private final Map<String, ConcurrentLinkedQueue<Claim>> queues = new ConcurrentHashMap<>();

        @Override
        public LockStore on(LockStore inner) {
            return new ForwardingStore(inner) {
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
}
