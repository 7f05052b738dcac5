// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck.primitives;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.lockkeeper.Guarantee;
import io.lockkeeper.KeeperClosedException;
import io.lockkeeper.LeaderElection;
import io.lockkeeper.Lease;
import io.lockkeeper.LeaseLost;
import io.lockkeeper.LockInfo;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.tck.support.ApiContract;
import io.lockkeeper.tck.support.Promise;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** One leader at a time, interrupted when it is none any more. */
public abstract class ElectionContract extends ApiContract {
    /** Leads until it is interrupted, and notes the terms. */
    private static final class Candidate {
        final Queue<Lease> terms = new ConcurrentLinkedQueue<>();
        final AtomicInteger interrupted = new AtomicInteger();
        final LeaderElection election;

        Candidate(LeaderElection election) {
            this.election = election;
        }

        Candidate start() {
            election.start(this::lead);
            return this;
        }

        /** Whether it is the leader and has been told so. */
        boolean leads() {
            return election.isLeader() && terms.stream().anyMatch(Lease::isValid);
        }

        private void lead(Lease lease) {
            terms.add(lease);
            try {
                new CountDownLatch(1).await();
            } catch (InterruptedException e) {
                interrupted.incrementAndGet();
            }
        }
    }

    private Candidate candidate(Lockkeeper keeper) {
        Candidate candidate = new Candidate(keeper.election(name(), lively(keeper)));
        closing(candidate.election);
        return candidate;
    }

    @Test
    void thereIsOneLeaderAtATime() throws Exception {
        AtomicInteger leaders = new AtomicInteger();
        AtomicBoolean alone = new AtomicBoolean(true);
        List<Long> tokens = new ArrayList<>();
        AtomicInteger terms = new AtomicInteger();
        for (int client = 0; client < 2; client++) {
            Lockkeeper keeper = keeper();
            for (int i = 0; i < 3; i++) {
                closing(keeper.election(name())).start(lease -> {
                    alone.compareAndSet(true, leaders.incrementAndGet() == 1 && lease.isValid());
                    tokens.add(lease.token());
                    terms.incrementAndGet();
                    leaders.decrementAndGet();
                });
            }
        }
        await("many terms", () -> terms.get() >= 30);
        try (Lease lease = keeper().lock(name()).acquire()) {
            assertThat(alone).isTrue();
            assertThat(tokens).isSorted().doesNotHaveDuplicates();
            assertThat(lease.token()).isGreaterThan(tokens.get(tokens.size() - 1));
        }
    }

    @Test
    void aReturningCandidateQueuesBehindTheOthers() throws Exception {
        Lockkeeper keeper = keeper();
        Promise.needed(keeper.guarantees(), Guarantee.FAIR);
        Candidate one = candidate(keeper).start();
        await("one leads", one::leads);
        Candidate two = candidate(keeper()).start();
        awaitWaiters(keeper, name(), 1);
        for (int term = 1; term <= 3; term++) {
            one.election.resign();
            await("two leads", two::leads);
            assertThat(one.election.isLeader()).isFalse();
            assertThat(two.terms).hasSize(term);
            awaitWaiters(keeper, name(), 1);
            two.election.resign();
            await("one leads again", one::leads);
            assertThat(one.terms).hasSize(term + 1);
            awaitWaiters(keeper, name(), 1);
        }
    }

    @Test
    void theLeaderLeadsUntilItIsInterruptedByLoss() throws Exception {
        Lockkeeper other = keeper();
        Candidate candidate = candidate(keeper());
        assertThat(candidate.election.isLeader()).isFalse();
        candidate.start();
        await("it leads", candidate::leads);
        assertThat(candidate.interrupted).hasValue(0);
        Lease first = candidate.terms.element();
        assertThat(first.isValid()).isTrue();
        lose(first, other);
        await("it leads again", () -> candidate.terms.size() == 2);
        assertThat(candidate.interrupted).hasValue(1);
        await("and knows", candidate::leads);
        List<Lease> terms = List.copyOf(candidate.terms);
        assertThat(terms.get(1).token()).isGreaterThan(terms.get(0).token());
    }

    @Test
    void aLeaderThatResignsLetsAnotherLead() throws Exception {
        Lockkeeper keeper = keeper();
        Candidate one = candidate(keeper);
        one.election.resign(); // of nothing
        one.start();
        await("one leads", one::leads);
        Candidate two = candidate(keeper()).start();
        awaitQueued(keeper, name(), 1);
        two.election.resign(); // of nothing
        assertThat(one.election.isLeader()).isTrue();
        one.election.resign();
        await("one has stopped", () -> one.interrupted.get() == 1);
        if (keeper.guarantees().has(Guarantee.FAIR)) {
            await("two leads", two::leads);
            assertThat(two.interrupted).hasValue(0);
        }
        one.election.close();
        await("two leads alone", two::leads);
        assertThat(one.election.isLeader()).isFalse();
    }

    @Test
    void closeEndsTheTermAndTheCandidacy() throws Exception {
        Lockkeeper keeper = keeper();
        Candidate leads = candidate(keeper).start();
        await("it leads", leads::leads);
        Candidate waits = candidate(keeper()).start();
        awaitQueued(keeper, name(), 1);
        waits.election.close();
        awaitQueued(keeper, name(), 0);
        leads.election.close();
        assertThat(leads.interrupted).as("it has returned when close returns").hasValue(1);
        assertThat(leads.election.isLeader()).isFalse();
        assertThat(isFree(keeper.lock(name()))).as("it has been released, too").isTrue();
        leads.election.close();
        assertThat(waits.terms).isEmpty();
        assertThat(leads.terms).hasSize(1);
    }

    @Test
    void aCandidateStartsOnce() throws Exception {
        Candidate candidate = candidate(keeper()).start();
        assertThatIllegalStateException().isThrownBy(candidate::start);
        candidate.election.close();
        assertThatIllegalStateException().isThrownBy(candidate::start);
        Candidate never = candidate(keeper());
        never.election.close();
        assertThatIllegalStateException().isThrownBy(never::start);
    }

    @Test
    void anyClientCanSeeTheLeader() throws Exception {
        Lockkeeper named =
                closing(Lockkeeper.builder(store()).clientName("the-leader").build());
        LeaderElection observer = keeper().election(name());
        assertThat(observer.leader()).isEmpty();
        Candidate candidate = candidate(named).start();
        await("it leads", candidate::leads);
        LockInfo.Hold leader = observer.leader().orElseThrow();
        assertThat(leader.client()).isEqualTo("the-leader");
        assertThat(leader.token()).isEqualTo(candidate.terms.element().token());
        assertThat(candidate.election.leader()).map(LockInfo.Hold::client).contains("the-leader");
        assertThat(observer.isLeader()).isFalse();
        candidate.election.close();
        assertThat(observer.leader()).isEmpty();
    }

    @Test
    void anElectionUsesTheLockOfItsName() throws Exception {
        Lockkeeper keeper = keeper();
        Lease held = keeper.lock(name()).acquire();
        Candidate candidate = candidate(keeper()).start();
        awaitQueued(keeper, name(), 1);
        assertThat(candidate.election.isLeader()).isFalse();
        assertThat(candidate.terms).isEmpty();
        assertThat(held.release()).isTrue();
        await("it leads", candidate::leads);
        assertThat(isTaken(keeper.lock(name()))).isTrue();
        assertThat(candidate.terms.element().token()).isGreaterThan(held.token());
    }

    @Test
    void aLeaderThatFailsIsACandidateAgain() throws Exception {
        Queue<Long> tokens = new ConcurrentLinkedQueue<>();
        LeaderElection election = closing(keeper().election(name()));
        election.start(lease -> {
            tokens.add(lease.token());
            if (tokens.size() == 1) {
                throw new IllegalStateException("thrown by a test, to be logged");
            }
            if (tokens.size() == 2) {
                throw new AssertionError("thrown by a test, to be logged");
            }
        });
        await("it leads after each failure", () -> tokens.size() >= 3);
        election.close();
        assertThat(List.copyOf(tokens)).isSorted().doesNotHaveDuplicates();
        assertThat(isFree(keeper().lock(name()))).isTrue();
    }

    @Test
    void aFailedLeaderLetsOthersLead() throws Exception {
        CountDownLatch fail = new CountDownLatch(1);
        Lockkeeper keeper = keeper();
        LeaderElection fails = closing(keeper.election(name())).start(lease -> {
            try {
                fail.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            throw new IllegalStateException("thrown by a test, to be logged");
        });
        await("it leads", fails::isLeader);
        Candidate other = candidate(keeper()).start();
        fail.countDown();
        await("the other leads", other::leads);
    }

    @Test
    void closingTheKeeperEndsIt() throws Exception {
        Lockkeeper keeper = keeper();
        Candidate leads = candidate(keeper).start();
        await("it leads", leads::leads);
        Candidate next = candidate(keeper()).start();
        awaitQueued(keeper, name(), 1);
        keeper.close();
        assertThat(leads.interrupted).hasValue(1);
        assertThat(leads.election.isLeader()).isFalse();
        await("the other leads", next::leads);
        assertThat(leads.terms).hasSize(1);
    }

    @Test
    void aLeaderMayCloseItsOwnElection() throws Exception {
        Lockkeeper keeper = keeper();
        AtomicInteger terms = new AtomicInteger();
        LeaderElection election = closing(keeper.election(name()));
        election.start(lease -> {
            terms.incrementAndGet();
            election.close();
        });
        await("a term", () -> terms.get() == 1);
        awaitFree(keeper.lock(name()));
        try (Lease lease = keeper.lock(name()).acquire()) {
            assertThat(lease.isValid()).isTrue();
            assertThat(keeper.inspector().inspect(name()).orElseThrow().waiters())
                    .isZero();
        }
        assertThat(terms).hasValue(1);
    }

    /** The thread that closes the keeper first waits for the leader, which must not wait for that in turn. */
    @Test
    void aLeaderMayCloseAKeeperThatIsBeingClosed() throws Exception {
        Lockkeeper keeper = keeper();
        CountDownLatch leading = new CountDownLatch(1);
        CompletableFuture<Future<Boolean>> closing = new CompletableFuture<>();
        CompletableFuture<Boolean> wasFirst = new CompletableFuture<>();
        closing(keeper.election(name())).start(lease -> {
            leading.countDown();
            Future<Boolean> other = closing.join();
            try {
                new CountDownLatch(1).await();
            } catch (InterruptedException e) {
                keeper.close();
                wasFirst.complete(!other.isDone());
            }
        });
        assertThat(leading.await(LONG.toSeconds(), TimeUnit.SECONDS)).isTrue();
        Future<Boolean> closed = async(() -> {
            keeper.close();
            return true;
        });
        closing.complete(closed);
        assertThat(get(wasFirst)).as("the leader's close() has returned first").isTrue();
        assertThat(get(closed)).isTrue();
    }

    /** Leaders have 5 s to stop, all together; nobody else waits for them. */
    @Test
    void aKeeperThatIsClosedWaitsForAllStubbornLeadersTogether() throws Exception {
        Lockkeeper keeper = keeper();
        Lockkeeper other = keeper();
        CountDownLatch end = new CountDownLatch(1);
        CountDownLatch leading = new CountDownLatch(3);
        for (int i = 0; i < 3; i++) {
            closing(keeper.election(name("e" + i))).start(lease -> {
                leading.countDown();
                while (end.getCount() > 0) {
                    try {
                        end.await();
                    } catch (InterruptedException e) {
                        // it goes on, as code does that knows no interrupts
                    }
                }
            });
        }
        closing(end::countDown); // before the candidates are closed
        assertThat(leading.await(LONG.toSeconds(), TimeUnit.SECONDS)).isTrue();
        CompletableFuture<LeaseLost> told = new CompletableFuture<>();
        Lease mine = keeper.lock(name("mine")).acquire().onLost(told::complete);
        Lease taken = other.lock(name("taken")).acquire();
        Future<Lease> waits = async(() -> keeper.lock(name("taken")).acquire());
        awaitQueued(other, name("taken"), 1);
        long begin = System.nanoTime();
        Future<Boolean> closing = async(() -> {
            keeper.close();
            return true;
        });
        assertThat(get(told).reason()).isEqualTo(LeaseLost.Reason.CLOSED);
        assertThat(mine.isValid()).isFalse();
        assertThatExceptionOfType(ExecutionException.class)
                .isThrownBy(() -> get(waits))
                .withCauseInstanceOf(KeeperClosedException.class);
        awaitFree(other.lock(name("mine")));
        assertThat(closing.isDone()).as("close() has returned").isFalse();
        assertThat(get(closing)).isTrue();
        assertThat(Duration.ofNanos(System.nanoTime() - begin)).isLessThan(Duration.ofSeconds(10));
        for (int i = 0; i < 3; i++) {
            awaitFree(other.lock(name("e" + i)));
        }
        assertThat(taken.release()).isTrue();
    }
}
