// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck.rules;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lockkeeper.DistributedLock;
import io.lockkeeper.DistributedReadWriteLock;
import io.lockkeeper.DistributedSemaphore;
import io.lockkeeper.Guarantee;
import io.lockkeeper.Lease;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.Mode;
import io.lockkeeper.Sequencer;
import io.lockkeeper.spi.Claim;
import io.lockkeeper.spi.Grant;
import io.lockkeeper.spi.Renewals;
import io.lockkeeper.tck.Tier;
import io.lockkeeper.tck.support.Attempt;
import io.lockkeeper.tck.support.Promise;
import io.lockkeeper.tck.support.Rounds;
import io.lockkeeper.tck.support.SpiClient;
import io.lockkeeper.tck.support.StepContract;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Rule 2: tokens of conflicting holds rise forever, whatever ends the holds; those that may coexist are unique. */
@SuppressWarnings("LockNotBeforeTry")
public abstract class TokenContract extends StepContract {
    @BeforeEach
    void isFenced() {
        Promise.needed(guarantees(), Guarantee.FENCED);
    }

    /** The token of a hold that a new client gets and gives back. */
    private long nextToken(String name) throws InterruptedException {
        Lease lease = keeper().lock(name).acquire();
        long token = lease.token();
        assertThat(lease.release()).isTrue();
        return token;
    }

    @Test
    void tokensArePositiveAndRiseFromReleaseToAcquisition() throws Exception {
        DistributedLock a = keeper().lock(name());
        DistributedLock b = keeper().lock(name());
        long last = 0;
        for (int i = 0; i < 20; i++) {
            Lease lease = (i % 3 == 0 ? b : a).acquire();
            assertThat(lease.token()).isGreaterThan(last);
            last = lease.token();
            assertThat(lease.release()).isTrue();
        }
    }

    @Test
    void tokensRiseInTheOrderOfHoldsUnderContentionAndLocalHandOff() throws Exception {
        Rounds rounds = Rounds.of(100, 2_000);
        AtomicInteger done = new AtomicInteger();
        List<Long> inOrder = new ArrayList<>(); // guarded by the lock under test
        List<Future<?>> all = new ArrayList<>();
        for (Lockkeeper keeper : List.of(keeper(), keeper())) {
            DistributedLock lock = keeper.lock(name());
            for (int thread = 0; thread < 3; thread++) {
                all.add(async(() -> {
                    for (int i = 0; rounds.goOnAfter(i); i++) {
                        try (Lease lease = lock.acquire()) {
                            inOrder.add(lease.token());
                        }
                        done.incrementAndGet();
                    }
                    return null;
                }));
            }
        }
        for (Future<?> one : all) {
            get(one);
        }
        assertThat(inOrder).hasSize(done.get());
        assertThat(new HashSet<>(inOrder)).as("all different").hasSize(done.get());
        assertThat(inOrder).isSorted();
    }

    @Test
    void aTokenIsTheSameAsLongAsTheHoldIsEnteredAgain() {
        DistributedLock lock = keeper().lock(name());
        lock.lock();
        long token = lock.lease().token();
        lock.lock();
        assertThat(lock.lease().token()).isEqualTo(token);
        lock.unlock();
        assertThat(lock.lease().token()).isEqualTo(token);
        lock.unlock();
    }

    @Test
    void tokensRiseWhenAHoldExpires() throws Exception {
        Lease expires = keeper().lock(name(), fixed(150)).acquire();
        assertThat(nextToken(name())).isGreaterThan(expires.token());
        assertThat(expires.isValid()).isFalse();
    }

    @Test
    void tokensRiseWhenAHoldIsBroken() throws Exception {
        Lease broken = keeper().lock(name(), veryLong()).acquire();
        assertThat(keeper().inspector().breakHold(name(), broken.token(), Duration.ZERO))
                .isTrue();
        assertThat(nextToken(name())).isGreaterThan(broken.token());
        assertThat(broken.isValid()).isFalse();
    }

    @Test
    void tokensRiseWhenAHoldIsBrokenAtOnce() throws Exception {
        // All tokens of the broken hold's block, too: its threads may have passed it on.
        SpiClient a = client();
        Grant broken = a.hold(name(), exclusive());
        assertThat(keeper().inspector().breakHoldNow(name(), broken.token(), Duration.ZERO))
                .isTrue();
        assertThat(nextToken(name())).isGreaterThanOrEqualTo(broken.token() + broken.block());
    }

    @Test
    void tokensRiseWhenAClientIsClosed() throws Exception {
        Lockkeeper closed = Lockkeeper.on(store());
        Lease lease = closed.lock(name(), veryLong()).acquire();
        closed.close();
        assertThat(nextToken(name())).isGreaterThan(lease.token());
    }

    @Test
    void tokensRiseWhenAWriterBecomesAReaderAndTheNextWriterComes() throws Exception {
        needs(Mode.SHARED);
        DistributedReadWriteLock mine = keeper().readWriteLock(name());
        mine.writeLock().lock();
        long writer = mine.writeLock().lease().token();
        mine.readLock().lock();
        mine.writeLock().unlock();
        long reader = mine.readLock().lease().token();
        assertThat(reader).isGreaterThan(writer);
        Lease joined = keeper().readWriteLock(name()).readLock().acquire();
        assertThat(joined.token()).isGreaterThan(writer).isNotEqualTo(reader);
        mine.readLock().unlock();
        assertThat(joined.release()).isTrue();
        assertThat(nextToken(name())).isGreaterThan(reader).isGreaterThan(joined.token());
    }

    @Test
    void aDowngradeTakesTheNextTokenOfTheBlockOrAFreshOne() {
        needs(Mode.SHARED);
        SpiClient client = client();
        for (int block : new int[] {64, 1}) {
            String name = name("block" + block);
            Grant writer = client.hold(name, withBlock(exclusive(), block));
            assertThat(writer.block()).isBetween(1, block);
            Grant reader = client.store().downgrade(writer).orElseThrow();
            assertThat(reader.mode()).isEqualTo(Mode.SHARED);
            assertThat(reader.block()).isPositive();
            assertThat(reader.token()).isGreaterThan(writer.token());
            assertThat(client.store().release(reader)).isTrue();
            Grant next = client.hold(name, exclusive());
            assertThat(next.token()).isGreaterThanOrEqualTo(reader.token() + reader.block());
        }
    }

    @Test
    void theTokensOfABlockBelongToOneGrantAlone() {
        SpiClient a = client();
        SpiClient b = client();
        long free = 0;
        for (int i = 0; i < 10; i++) {
            SpiClient client = i % 2 == 0 ? a : b;
            Grant grant = client.hold(name(), withBlock(exclusive(), 1 + i * 7));
            assertThat(grant.token()).isGreaterThanOrEqualTo(free);
            assertThat(grant.block()).isBetween(1, 1 + i * 7);
            free = grant.token() + grant.block();
            assertThat(client.store().release(grant)).isTrue();
        }
    }

    @Test
    void tokensOfReadersAreUniqueAndLieBetweenThoseOfTheWriters() throws Exception {
        needs(Mode.SHARED);
        long before = nextToken(name());
        List<Lease> readers = new ArrayList<>();
        for (Lockkeeper keeper : List.of(keeper(), keeper(), keeper())) {
            for (int i = 0; i < 5; i++) {
                readers.add(keeper.readWriteLock(name()).readLock().acquire());
            }
        }
        Set<Long> tokens = new HashSet<>();
        readers.forEach(reader -> tokens.add(reader.token()));
        assertThat(tokens).hasSize(readers.size()).allMatch(token -> token > before);
        readers.forEach(reader -> assertThat(reader.release()).isTrue());
        long after = nextToken(name());
        assertThat(tokens).allMatch(token -> token < after);
    }

    @Test
    void tokensOfPermitsAreUnique() throws Exception {
        needs(Mode.PERMITS);
        List<DistributedSemaphore> clients = List.of(keeper().semaphore(name(), 10), keeper().semaphore(name(), 10));
        Set<Long> tokens = new HashSet<>();
        int held = 0;
        for (int round = 0; round < 3; round++) {
            List<Lease> leases = new ArrayList<>();
            for (int i = 0; i < 10; i++) {
                leases.add(clients.get(i % 2).acquire());
            }
            leases.forEach(lease -> tokens.add(lease.token()));
            held += leases.size();
            leases.forEach(lease -> assertThat(lease.release()).isTrue());
        }
        assertThat(tokens).hasSize(held);
    }

    @Test
    void tokensOfASemaphoreWithOnePermitRise() throws Exception {
        needs(Mode.PERMITS);
        long last = 0;
        for (DistributedSemaphore client : List.of(keeper().semaphore(name(), 1), keeper().semaphore(name(), 1))) {
            for (int i = 0; i < 5; i++) {
                Lease lease = client.acquire();
                assertThat(lease.token()).isGreaterThan(last);
                last = lease.token();
                assertThat(lease.release()).isTrue();
            }
        }
    }

    @Test
    void tokensRiseAfterANameWasUsedInAnotherWay() throws Exception {
        needs(Mode.PERMITS);
        long first = nextToken(name());
        Lease permit = keeper().semaphore(name(), 1).acquire();
        assertThat(permit.token()).isGreaterThan(first);
        assertThat(permit.release()).isTrue();
        assertThat(nextToken(name())).isGreaterThan(permit.token());
    }

    @Test
    void tokensRiseAfterTheStoreHasForgottenTheName() throws Exception {
        Lockkeeper keeper = keeper();
        long first = nextToken(name());
        int others = Tier.pick(600, 4_000, 20_000);
        for (int i = 0; i < others; i++) {
            assertThat(isFree(keeper.lock(name("other" + i)))).isTrue();
        }
        assertThat(nextToken(name())).isGreaterThan(first);
    }

    @Test
    void tokensRiseFromOneWaiterToTheNext() throws Exception {
        needsQueue();
        LockOptions fair = LockOptions.defaults().fair(true);
        Lockkeeper a = keeper();
        Lockkeeper b = keeper();
        Lease first = a.lock(name(), fair).acquire();
        List<Attempt> waiters = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            Lockkeeper keeper = i % 2 == 0 ? b : a;
            waiters.add(attempt(() -> keeper.lock(name(), fair).acquire()));
            awaitWaiters(name(), i + 1);
        }
        long last = first.token();
        assertThat(first.release()).isTrue();
        for (Attempt waiter : waiters) {
            Lease lease = waiter.get().orElseThrow();
            assertThat(lease.token()).isGreaterThan(last);
            last = lease.token();
            assertThat(lease.release()).isTrue();
        }
    }

    @Test
    void aHolderCanRaiseLaterTokensOrLearnsThatItCannot() {
        SpiClient client = client();
        Grant grant = client.hold(name(), exclusive());
        long target = grant.token() + 1_000_000;
        for (long raiseTo : new long[] {target, 1}) { // a lower one changes nothing
            Renewals raising = new Renewals(List.of(new Renewals.Hold(grant, VERY_LONG, raiseTo)), List.of());
            if (!guarantees().has(Guarantee.RAISES_TOKENS)) {
                assertThatThrownBy(() -> client.store().renew(raising))
                        .isInstanceOf(UnsupportedOperationException.class)
                        .hasMessageContaining(Guarantee.RAISES_TOKENS.name());
                return;
            }
            client.store().renew(raising);
        }
        assertThat(client.store().release(grant)).isTrue();
        Claim next = client.newClaim(name(), exclusive());
        assertThat(SpiClient.granted(client.store().claim(next)).token()).isGreaterThan(target);
    }

    @Test
    void aHolderThatRaisesTokensIsKnownByThoseOfItsGrant() {
        Promise.needed(guarantees(), Guarantee.RAISES_TOKENS);
        SpiClient client = client();
        Grant drawn = client.hold(name(), exclusive());
        Grant given = new Grant(drawn.claim(), drawn.mode(), drawn.token() + 1_000, 3);
        client.store().renew(new Renewals(List.of(new Renewals.Hold(given, VERY_LONG, given.token() + 2)), List.of()));
        assertThat(holders(name())).containsExactly(given.token());
        for (long token : new long[] {drawn.token(), given.token() + 3}) {
            assertThat(client.store().check(new Sequencer(name(), Mode.EXCLUSIVE, token)))
                    .isFalse();
        }
        assertThat(client.store().check(new Sequencer(name(), Mode.EXCLUSIVE, given.token() + 2)))
                .isTrue();
        client.renew(drawn, VERY_LONG); // one that raises nothing leaves the tokens alone
        assertThat(holders(name())).containsExactly(given.token());
        assertThat(client.store().breakHold(name(), given.token(), Duration.ZERO, true))
                .isTrue();
    }
}
