// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck.rules;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.lockkeeper.DistributedLock;
import io.lockkeeper.KeeperListener;
import io.lockkeeper.Lease;
import io.lockkeeper.LeaseLost;
import io.lockkeeper.LeaseLostException;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.tck.Tier;
import io.lockkeeper.tck.support.HandleContract;
import io.lockkeeper.tck.support.Rounds;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * H90: a release at the very moment of loss. Once a loss was reported, by an action, a listener or an exception, no call reports
 * that the hold was released, in whatever style.
 */
@SuppressWarnings("LockNotBeforeTry")
public abstract class LossMomentContract extends HandleContract {
    private final Set<String> told = ConcurrentHashMap.newKeySet();
    private final Set<String> heard = ConcurrentHashMap.newKeySet();
    private final Set<String> released = ConcurrentHashMap.newKeySet();
    private Lockkeeper keeper;
    private Lockkeeper other;

    /** How a hold is given up. */
    enum How {
        RELEASE,
        CLOSE,
        RELEASE_ASYNC,
        UNLOCK
    }

    @BeforeEach
    final void keepers() {
        keeper = closing(Lockkeeper.builder(store())
                .listener(new KeeperListener() {
                    @Override
                    public void lost(LeaseLost loss) {
                        heard.add(key(loss.name(), loss.token()));
                    }
                })
                .build());
        other = keeper();
    }

    /** Tokens of different names may be the same. */
    private static String key(String name, long token) {
        return token + " of " + name;
    }

    /** Gives it up; notes when that is said to have worked. */
    private void giveUp(How how, DistributedLock lock, Lease lease) throws Exception {
        boolean toldBefore =
                told.contains(key(lease.name(), lease.token())) || heard.contains(key(lease.name(), lease.token()));
        boolean done;
        try {
            switch (how) {
                case RELEASE -> done = lease.release();
                case RELEASE_ASYNC -> done = get(lease.releaseAsync());
                case CLOSE -> {
                    lease.close();
                    done = true;
                }
                case UNLOCK -> {
                    lock.unlock();
                    done = true;
                }
                default -> throw new AssertionError(how);
            }
        } catch (LeaseLostException e) {
            done = false;
        } catch (IllegalMonitorStateException e) {
            assertThat(e).hasCauseInstanceOf(LeaseLostException.class);
            done = false;
        }
        if (done) {
            assertThat(toldBefore).as("released after its loss was reported").isFalse();
            released.add(key(lease.name(), lease.token()));
        } else {
            assertThatExceptionOfType(LeaseLostException.class).isThrownBy(lease::ensureValid);
        }
        assertThat(lease.release()).as("the same again").isEqualTo(done);
    }

    /** All events have been told; none of them contradicts a release. */
    private void nobodyWasToldBoth() throws Exception {
        Lease last = keeper.lock(name("last"), lively(keeper)).acquire();
        last.onLost(loss -> told.add(key(loss.name(), loss.token())));
        lose(last, other);
        await(
                "everything is reported",
                () -> told.contains(key(last.name(), last.token())) && heard.contains(key(last.name(), last.token())));
        assertThat(released).as("released, and lost").doesNotContainAnyElementsOf(told);
        assertThat(released).as("released, and heard to be lost").doesNotContainAnyElementsOf(heard);
        assertThat(heard).as("lost, as reported to the listener and to actions").containsAll(told);
    }

    private Lease begin(How how, DistributedLock lock) throws InterruptedException {
        Lease lease;
        if (how == How.UNLOCK) {
            lock.lock();
            lease = lock.lease();
        } else {
            lease = lock.acquire();
        }
        return lease.onLost(loss -> told.add(key(loss.name(), loss.token())));
    }

    @Test
    void aReleaseAtTheEndOfALeaseIsEitherReleasedOrLost() throws Exception {
        LockOptions options = LockOptions.defaults().fixedLease(longer(Duration.ofMillis(100), keeper));
        Rounds rounds = Rounds.between(1, Tier.pick(10, 200));
        List<Future<Boolean>> workers = new ArrayList<>();
        for (int i = 0; i < 12; i++) {
            How how = How.values()[i % How.values().length];
            DistributedLock lock = keeper.lock(name("n" + i), options);
            workers.add(async(() -> {
                for (int round = 0; rounds.goOnAfter(round); round++) {
                    Lease lease = begin(how, lock);
                    long end = System.nanoTime()
                            + lease.remaining().toNanos()
                            + ThreadLocalRandom.current().nextLong(-200_000, 200_000);
                    while (System.nanoTime() < end) {
                        LockSupport.parkNanos(Math.max(1, end - System.nanoTime() - 100_000));
                    }
                    giveUp(how, lock, lease);
                }
                return true;
            }));
        }
        for (Future<Boolean> worker : workers) {
            assertThat(get(worker)).isTrue();
        }
        nobodyWasToldBoth();
    }

    @Test
    void aReleaseDuringABreakIsEitherReleasedOrLost() throws Exception {
        Rounds rounds = Rounds.between(10, Tier.pick(60, 3_000));
        LockOptions options = LockOptions.defaults().lease(longer(Duration.ofMillis(2_500), keeper));
        List<Future<Boolean>> workers = new ArrayList<>();
        for (How how : How.values()) {
            DistributedLock lock = keeper.lock(name(how.name()), options);
            workers.add(async(() -> {
                for (int round = 0; rounds.goOnAfter(round); round++) {
                    Lease lease = begin(how, lock);
                    CyclicBarrier start = new CyclicBarrier(2);
                    Future<Boolean> breaks = async(() -> {
                        start.await(LONG.toSeconds(), TimeUnit.SECONDS);
                        return other.inspector().breakHoldNow(lock.name(), lease.token(), Duration.ZERO);
                    });
                    start.await(LONG.toSeconds(), TimeUnit.SECONDS);
                    giveUp(how, lock, lease);
                    get(breaks);
                }
                return true;
            }));
        }
        for (Future<Boolean> worker : workers) {
            assertThat(get(worker)).isTrue();
        }
        nobodyWasToldBoth();
    }
}
