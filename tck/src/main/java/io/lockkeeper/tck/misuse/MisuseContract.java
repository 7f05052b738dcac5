// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck.misuse;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import io.lockkeeper.DistributedLock;
import io.lockkeeper.KeeperListener;
import io.lockkeeper.Lease;
import io.lockkeeper.LeaseLost;
import io.lockkeeper.LeaseLostException;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.tck.support.ApiContract;
import io.lockkeeper.testkit.FaultyStore;
import io.lockkeeper.testkit.StepKind;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** Wrong use, and what must happen then: hazards H1 to H9 and H22 to H30, as far as names are not concerned. */
@SuppressWarnings("LockNotBeforeTry")
public abstract class MisuseContract extends ApiContract {
    // ---- Handles after their end ----

    @Test
    void aSecondCloseDoesNothingEvenIfAnotherHoldsTheLock() throws Exception { // H4
        FaultyStore store = faulty();
        Lockkeeper keeper = keeper(store);
        Lease lease = keeper.lock(name()).acquire();
        lease.close();
        Lease again = keeper.lock(name()).acquire();
        store.resetCounts();
        lease.close();
        assertThat(lease.release())
                .as("repeating a release gives the same answer")
                .isTrue();
        assertThat(get(lease.releaseAsync())).isTrue();
        assertThat(store.count(StepKind.RELEASE)).isZero();
        assertThat(again.isValid()).isTrue();
        assertThat(isTaken(keeper().lock(name()))).isTrue();
        again.close();
        Lease other = keeper().lock(name()).acquire();
        lease.close();
        again.close();
        assertThat(other.release()).isTrue();
    }

    @Test
    void anExpiredHandleReportsTheLossAndHarmsNobody() throws Exception { // H2, H3
        Lockkeeper keeper = keeper();
        Lease lease = keeper.lock(name(), brief(keeper)).acquire();
        Lockkeeper other = keeper();
        Lease successor = other.lock(name()).acquire();
        assertThat(lease.isValid()).isFalse();
        assertThat(lease.remaining()).isZero();
        assertThatExceptionOfType(LeaseLostException.class).isThrownBy(lease::ensureValid);
        assertThat(lease.renew(Duration.ofMinutes(1))).isFalse();
        assertThatExceptionOfType(LeaseLostException.class)
                .isThrownBy(lease::close)
                .satisfies(e -> {
                    assertThat(e.loss().name()).isEqualTo(name());
                    assertThat(e.loss().token()).isEqualTo(lease.token());
                    assertThat(e.loss().reason()).isEqualTo(LeaseLost.Reason.EXPIRED);
                });
        lease.close(); // told once
        assertThat(lease.release()).isFalse();
        assertThat(get(lease.releaseAsync())).isFalse();
        assertThat(successor.isValid()).isTrue();
        assertThat(other.inspector().check(successor.sequencer())).isTrue();
        assertThat(successor.release()).isTrue();
    }

    @Test
    void anExpiredHandleReportsTheLossEvenIfTheLockIsFree() throws Exception { // H2
        Lockkeeper keeper = keeper();
        DistributedLock lock = keeper.lock(name(), brief(keeper));
        Lease one = lock.acquire();
        Lease two = keeper.lock(name("y"), brief(keeper)).acquire();
        await("both ran out", () -> !one.isValid() && !two.isValid());
        assertThat(one.release()).isFalse();
        assertThatExceptionOfType(LeaseLostException.class).isThrownBy(two::close);
        awaitFree(keeper().lock(name()));
    }

    @Test
    void aReleasedHandleIsNotLost() throws Exception {
        Lockkeeper keeper = keeper();
        Lease lease = keeper.lock(name(), brief(keeper)).acquire();
        AtomicInteger told = new AtomicInteger();
        lease.onLost(loss -> told.incrementAndGet());
        assertThat(lease.release()).isTrue();
        assertThat(lease.isValid()).isFalse();
        assertThat(lease.remaining()).isZero();
        assertThat(lease.renew(Duration.ofMinutes(1))).isFalse();
        assertThatIllegalStateException().isThrownBy(lease::ensureValid);
        assertThatIllegalStateException().isThrownBy(lease::sequencer);
        assertThat(told).hasValue(0);
    }

    @Test
    void theLeaseOfAThreadMayBeReleasedByItsHandleAndUnlockReportsIt() throws Exception {
        DistributedLock lock = keeper().lock(name());
        lock.lock();
        assertThat(lock.lease().release()).isTrue();
        assertThat(lock.isHeldByCurrentThread()).isFalse();
        notHeld(lock::lock);
        notHeld(lock::unlock);
        assertThat(isFree(keeper().lock(name()))).isTrue();
        lock.lock();
        lock.unlock();
    }

    // ---- Owners ----

    @Test
    void twoClientsOfOneJvmAreTwoOwners() throws Exception { // H24
        DistributedLock mine = keeper().lock(name());
        DistributedLock other = keeper().lock(name());
        mine.lock();
        assertThat(other.isHeldByCurrentThread()).isFalse();
        assertThat(other.tryLock()).isFalse();
        notHeld(other::unlock);
        assertThat(mine.holdCount()).isOne();
        mine.unlock();
        assertThat(other.tryLock()).isTrue();
        other.unlock();
    }

    @Test
    void threadsOfTheSameNameAreTwoOwners() throws Exception { // H25
        DistributedLock lock = keeper().lock(name());
        lock.lock();
        CompletableFuture<Boolean> got = new CompletableFuture<>();
        Thread twin = new Thread(
                () -> got.complete(lock.tryLock() || lock.isHeldByCurrentThread()),
                Thread.currentThread().getName());
        twin.start();
        assertThat(get(got)).isFalse();
        lock.unlock();
    }

    /** H25; before Java 21 there are no virtual threads, and so no test. */
    @TestFactory
    Stream<DynamicTest> virtualThreads() {
        return Runtime.version().feature() < 21
                ? Stream.empty()
                : Stream.of(
                        DynamicTest.dynamicTest("are owners of their own", this::virtualThreadsAreOwnersOfTheirOwn));
    }

    private void virtualThreadsAreOwnersOfTheirOwn() throws Exception {
        Method start = Thread.class.getMethod("startVirtualThread", Runnable.class);
        DistributedLock lock = keeper().lock(name());
        List<CompletableFuture<Boolean>> all = new ArrayList<>();
        int[] count = new int[1];
        for (int i = 0; i < 20; i++) {
            CompletableFuture<Boolean> done = new CompletableFuture<>();
            all.add(done);
            start.invoke(null, (Runnable) () -> {
                lock.lock();
                count[0]++;
                boolean mine = lock.isHeldByCurrentThread() && lock.holdCount() == 1;
                lock.unlock();
                done.complete(mine);
            });
        }
        for (CompletableFuture<Boolean> each : all) {
            assertThat(get(each)).isTrue();
        }
        assertThat(count[0]).isEqualTo(20);
    }

    @Test
    void aThreadThatDiesHoldingLosesTheLock() throws Exception { // H22
        Lost lost = new Lost();
        Lockkeeper keeper = closing(Lockkeeper.builder(store()).listener(lost).build());
        DistributedLock lock = keeper.lock(name(), lively(keeper));
        Thread thread = new Thread(lock::lock);
        thread.start();
        thread.join();
        assertThat(keeper().lock(name()).acquire().release()).isTrue();
        await("the loss is reported", () -> !lost.told.isEmpty());
        assertThat(lost.told).extracting(LeaseLost::reason).containsExactly(LeaseLost.Reason.OWNER_DIED);
    }

    @Test
    void anUnreachableHandleExpiresAndIsNeverReleasedWhileItsWorkMayGoOn() throws Exception { // H23
        Lost lost = new Lost();
        FaultyStore store = faulty();
        Lockkeeper keeper = closing(Lockkeeper.builder(store).listener(lost).build());
        // Collecting garbage again and again makes this process stand still: a lease that outlasts that.
        LockOptions options = lively(keeper).lease(lively(keeper).lease().multipliedBy(4));
        get(async(() -> keeper.lock(name(), options).acquire().token()));
        awaitCollecting("the handle is gone", () -> !lost.told.isEmpty());
        assertThat(lost.told).extracting(LeaseLost::reason).containsExactly(LeaseLost.Reason.OWNER_DIED);
        assertThat(keeper().lock(name()).acquire().release()).isTrue();
        assertThat(store.count(StepKind.RELEASE)).isZero();
    }

    // ---- Callbacks ----

    @Test
    void callbacksThatBlockOrThrowHarmNoOtherLock() throws Exception { // H28
        FaultyStore store = faulty();
        Lockkeeper keeper = keeper(store);
        Lockkeeper other = keeper();
        CountDownLatch end = new CountDownLatch(1);
        AtomicInteger told = new AtomicInteger();
        Lease kept = keeper.lock(name("kept"), lively(keeper)).acquire();
        for (int i = 0; i < 20; i++) {
            Lease lease = keeper.lock(name("lost" + i), lively(keeper)).acquire();
            lease.onLost(loss -> {
                told.incrementAndGet();
                throw new IllegalStateException("thrown by a test, to be logged");
            });
            lease.onLost(loss -> {
                told.incrementAndGet();
                awaitQuietly(end);
            });
            lose(lease, other);
        }
        await("all were notified", () -> told.get() == 40);
        store.resetCounts();
        await("renewal goes on", () -> store.count(StepKind.RENEW) >= 4);
        assertThat(kept.isValid()).isTrue();
        end.countDown();
        assertThat(kept.release()).isTrue();
    }

    @Test
    void aListenerThatThrowsOrBlocksHarmsNothing() throws Exception { // H28
        CountDownLatch end = new CountDownLatch(1);
        AtomicInteger told = new AtomicInteger();
        KeeperListener bad = new KeeperListener() {
            @Override
            public void acquired(Lease lease, Duration waited) {
                told.incrementAndGet();
                throw new IllegalStateException("thrown by a test, to be logged");
            }

            @Override
            public void released(String name, long token, Duration held) {
                told.incrementAndGet();
                awaitQuietly(end);
            }
        };
        Lockkeeper keeper = closing(Lockkeeper.builder(store()).listener(bad).build());
        for (int i = 0; i < 10; i++) {
            assertThat(keeper.lock(name()).acquire().release()).isTrue();
        }
        assertThat(get(keeper.lock(name()).acquireAsync()).release()).isTrue();
        end.countDown();
        await("everything is reported in the end", () -> told.get() == 22);
    }

    // ---- H29: a fixed lease is not renewed ----

    @Test
    void aFixedLeaseEndsWhateverHappensAndAKeptAliveOneIsNotRenewedByHand() throws Exception {
        FaultyStore store = faulty();
        Lockkeeper keeper = keeper(store);
        Lease fixed = keeper.lock(name(), brief(keeper)).acquire();
        await("it ends", () -> !fixed.isValid());
        assertThat(store.count(StepKind.RENEW)).isZero();
        assertThat(fixed.release()).isFalse();
        try (Lease kept = keeper.lock(name("y")).acquire()) {
            assertThatIllegalStateException().isThrownBy(() -> kept.renew(Duration.ofMinutes(1)));
            assertThat(kept.isValid()).isTrue();
        }
    }

    // ---- tryCall ----

    @Test
    void tryCallRunsUnderTheLockAndReleasesIt() throws Exception {
        DistributedLock lock = keeper().lock(name());
        DistributedLock other = keeper().lock(name());
        Optional<Long> token = lock.tryCall(Duration.ZERO, lease -> {
            assertThat(lease.isValid()).isTrue();
            assertThat(isTaken(other)).isTrue();
            return lease.token();
        });
        assertThat(token).isPresent();
        Lease held = other.tryAcquire().orElseThrow();
        AtomicInteger calls = new AtomicInteger();
        assertThat(lock.tryCall(Duration.ofMillis(20), lease -> calls.incrementAndGet()))
                .isEmpty();
        assertThat(calls).hasValue(0);
        held.release();
    }

    @Test
    void tryCallReleasesAlsoWhenTheBodyFails() throws Exception {
        DistributedLock lock = keeper().lock(name());
        DistributedLock other = keeper().lock(name());
        Exception failure = new Exception("of the body");
        assertThatExceptionOfType(Exception.class)
                .isThrownBy(() -> lock.tryCall(Duration.ZERO, lease -> {
                    throw failure;
                }))
                .isSameAs(failure);
        assertThat(isFree(other)).isTrue();
        assertThatNullPointerException().isThrownBy(() -> lock.tryCall(Duration.ZERO, lease -> nothing()));
        assertThat(isFree(other)).isTrue();
    }

    @Test
    void tryCallReportsALostLockUnlessTheBodyFailed() throws Exception {
        Lockkeeper keeper = keeper();
        Lockkeeper other = keeper();
        DistributedLock lock = keeper.lock(name(), lively(keeper));
        lost(() -> lock.tryCall(Duration.ZERO, lease -> {
            lose(lease, other);
            return "done";
        }));
        Exception failure = new Exception("of the body");
        assertThatExceptionOfType(Exception.class)
                .isThrownBy(() -> lock.tryCall(Duration.ZERO, lease -> {
                    lose(lease, other);
                    throw failure;
                }))
                .isSameAs(failure);
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static final class Lost implements KeeperListener {
        final Queue<LeaseLost> told = new ConcurrentLinkedQueue<>();

        @Override
        public void lost(LeaseLost loss) {
            told.add(loss);
        }
    }
}
