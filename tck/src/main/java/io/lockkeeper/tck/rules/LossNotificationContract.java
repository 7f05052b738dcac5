// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck.rules;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lockkeeper.DistributedLock;
import io.lockkeeper.KeeperListener;
import io.lockkeeper.Lease;
import io.lockkeeper.LeaseLost;
import io.lockkeeper.LeaseLostException;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.tck.support.FaultContract;
import io.lockkeeper.tck.support.Rounds;
import io.lockkeeper.tck.support.Warnings;
import io.lockkeeper.testkit.FaultyStore;
import io.lockkeeper.testkit.StepKind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

/**
 * Rule 10, who is notified of a loss and how: the actions of the lease, the listener, the log, an interrupt; once, and before
 * others can acquire the lock.
 */
@SuppressWarnings("LockNotBeforeTry")
public abstract class LossNotificationContract extends FaultContract {
    @Test
    void lossIsReportedBeforeOthersCanAcquire() throws Exception {
        boolean early = false;
        for (int i = 0; i < 5 && !early; i++) { // a busy machine may be late once, not always
            FaultyStore store = faulty();
            Lease lease = hold(keeper(store).lock(name("at" + i), kept()));
            CompletableFuture<Long> toldAt = new CompletableFuture<>();
            lease.onLost(loss -> toldAt.complete(System.nanoTime()));
            CompletableFuture<LeaseLost> loss = lossOf(lease);
            store.down();
            Entry other = get(enter(keeper().lock(name("at" + i), kept())));
            early = get(loss).remaining().compareTo(Duration.ZERO) > 0 && other.at() > get(toldAt);
        }
        assertThat(early).isTrue();
    }

    @Test
    void aLateLossActionRunsAtOnce() throws Exception {
        Lease lease = hold(keeper().lock(name(), fixed(200)));
        LeaseLost first = get(lossOf(lease));
        assertThat(get(lossOf(lease))).isEqualTo(first);
        assertThatThrownBy(lease::close).isInstanceOf(LeaseLostException.class);
        assertThat(get(lossOf(lease))).isEqualTo(first);
    }

    @Test
    void lossIsReportedToTheListenerToo() throws Exception {
        CompletableFuture<LeaseLost> heard = new CompletableFuture<>();
        Lockkeeper keeper = keeper(
                store(),
                b -> b.listener(new KeeperListener() {
                    @Override
                    public void lost(LeaseLost loss) {
                        heard.complete(loss);
                    }
                }));
        Lease lease = hold(keeper.lock(name(), fixed(200)));
        assertThat(get(heard)).isEqualTo(get(lossOf(lease)));
    }

    @Test
    void aLossWithoutAListenerIsLogged() throws Exception {
        Warnings warnings = closing(new Warnings());
        Lease lease = hold(keeper().lock(name(), fixed(200)));
        await("a warning", () -> !warnings.of(name()).isEmpty());
        assertThat(lease.isValid()).isFalse();
        assertThat(warnings.of(name()).get(0).message()).contains("EXPIRED").contains(Long.toString(lease.token()));
    }

    @Test
    void lossIsReportedOnceHoweverManyCausesItHas() throws Exception {
        FaultyStore store = faulty();
        Lockkeeper keeper = keeper(store);
        Lockkeeper breaker = keeper();
        LockOptions options = fixed(100);
        Rounds rounds = Rounds.of(10, 200);
        for (int i = 0; rounds.goOnAfter(i); i++) {
            String name = name("n" + i);
            List<LeaseLost> told = new CopyOnWriteArrayList<>();
            Lease lease = hold(keeper.lock(name, options)).onLost(told::add);
            CyclicBarrier together = new CyclicBarrier(3);
            Future<Boolean> breaking = async(() -> {
                together.await();
                awaitNearEnd(lease);
                return breaker.inspector().breakHold(name, lease.token(), Duration.ZERO);
            });
            Future<Boolean> renewing = async(() -> {
                together.await();
                awaitNearEnd(lease);
                return lease.renew(options.lease());
            });
            together.await();
            awaitNearEnd(lease);
            boolean released = lease.release();
            get(breaking);
            get(renewing);
            if (!released) {
                get(lossOf(lease));
            }
            String tellings = "tellings of round " + i;
            await(tellings, () -> told.size() == (released ? 0 : 1));
            LockSupport.parkNanos(1_000_000);
            assertThat(told).as(tellings).hasSize(released ? 0 : 1);
        }
    }

    private static void awaitNearEnd(Lease lease) {
        Duration early = Duration.ofNanos(ThreadLocalRandom.current().nextLong(1_000_000));
        while (lease.remaining().compareTo(early) > 0) {
            LockSupport.parkNanos(100_000);
        }
    }

    @Test
    void noLossIsReportedAfterARelease() throws Exception {
        Lockkeeper keeper = keeper();
        List<LeaseLost> told = new CopyOnWriteArrayList<>();
        Lease released = hold(keeper.lock(name(), fixed(200))).onLost(told::add);
        released.release();
        Lease lasting = hold(keeper.lock(name("other"), fixed(400)));
        get(lossOf(lasting));
        keeper.close();
        assertThat(told).isEmpty();
        assertThat(released.release()).isTrue();
        assertThatThrownBy(released::ensureValid).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void actionsThatBlockOrThrowDelayNoOtherHold() throws Exception { // H28
        FaultyStore store = faulty();
        Lockkeeper keeper = keeper(store);
        CountDownLatch block = new CountDownLatch(1);
        closing(block::countDown);
        Lease healthy = hold(keeper.lock(name("healthy"), keptSafely()));
        for (int i = 0; i < 10; i++) {
            hold(keeper.lock(name("blocks" + i), fixed(100))).onLost(loss -> awaitUninterruptibly(block));
            hold(keeper.lock(name("throws" + i), fixed(100))).onLost(loss -> {
                throw new IllegalStateException("a bad action");
            });
        }
        Lease lease = hold(keeper.lock(name(), fixed(200))).onLost(loss -> {
            throw new IllegalStateException("another bad action, of the same lease");
        });
        get(lossOf(lease));
        int renewals = store.count(StepKind.RENEW);
        await("renewals go on", () -> store.count(StepKind.RENEW) >= renewals + 3);
        assertThat(healthy.isValid()).isTrue();
    }

    @Test
    void aListenerThatBlocksOrThrowsDelaysNoOtherHold() throws Exception { // H28
        FaultyStore store = faulty();
        CountDownLatch block = new CountDownLatch(1);
        closing(block::countDown);
        Lockkeeper keeper = keeper(
                store,
                b -> b.listener(new KeeperListener() {
                    @Override
                    public void acquired(Lease lease, Duration waited) {
                        throw new IllegalStateException("a bad listener");
                    }

                    @Override
                    public void lost(LeaseLost loss) {
                        awaitUninterruptibly(block);
                    }
                }));
        Lease healthy = hold(keeper.lock(name("healthy"), keptSafely()));
        get(lossOf(keeper.lock(name("first"), fixed(100)).acquire()));
        get(lossOf(keeper.lock(name("second"), fixed(100)).acquire()));
        int renewals = store.count(StepKind.RENEW);
        await("renewals go on", () -> store.count(StepKind.RENEW) >= renewals + 3);
        assertThat(healthy.isValid()).isTrue();
    }

    private static void awaitUninterruptibly(CountDownLatch latch) {
        for (; ; ) {
            try {
                latch.await();
                return;
            } catch (InterruptedException e) {
                // a callback that ignores interrupts
            }
        }
    }

    // ---- Interrupts on loss ----

    @Test
    void aThreadThatAskedForItIsInterruptedOnLoss() throws Exception {
        DistributedLock lock = keeper().lock(name(), fixed(200));
        Future<Boolean> working = async(() -> {
            Lease lease = lock.acquire().interruptOnLoss();
            try {
                new CountDownLatch(1).await();
                return false;
            } catch (InterruptedException e) {
                return !lease.isValid();
            }
        });
        assertThat(get(working)).as("interrupted, and lost before that").isTrue();
    }

    @Test
    void aThreadThatAsksAfterTheLossIsInterruptedAtOnce() throws Exception {
        Lease lease = hold(keeper().lock(name(), fixed(200)));
        get(lossOf(lease));
        lease.interruptOnLoss();
        assertThat(Thread.interrupted()).isTrue();
    }

    @Test
    void noThreadIsInterruptedAfterItHasClosedItsLease() throws Exception {
        Lockkeeper keeper = keeper();
        LockOptions options = fixed(100);
        List<Future<Integer>> workers = new ArrayList<>();
        Rounds rounds = Rounds.of(12, 300);
        for (int i = 0; i < 16; i++) {
            String name = name("n" + i);
            workers.add(async(() -> closeAtTheEnd(keeper.lock(name, options), rounds)));
        }
        int lost = 0;
        for (Future<Integer> worker : workers) {
            lost += worker.get();
        }
        assertThat(lost).as("some were lost, some were not").isPositive();
    }

    private static int closeAtTheEnd(DistributedLock lock, Rounds rounds) throws InterruptedException {
        int lost = 0;
        for (int i = 0; rounds.goOnAfter(i); i++) {
            Lease lease = lock.acquire().interruptOnLoss();
            // Mostly just before or after the end.
            long toEnd =
                    lease.remaining().toNanos() + ThreadLocalRandom.current().nextLong(-500_000, 300_000);
            for (long end = System.nanoTime() + toEnd; System.nanoTime() < end; ) {
                LockSupport.parkNanos(end - System.nanoTime());
                if (Thread.currentThread().isInterrupted()) {
                    break;
                }
            }
            try {
                lease.close();
            } catch (LeaseLostException e) {
                lost++;
            }
            boolean ignored = Thread.interrupted(); // it may have come until the close was done
            for (long end = System.nanoTime() + 3_000_000; System.nanoTime() < end; ) {
                LockSupport.parkNanos(500_000);
                assertThat(Thread.currentThread().isInterrupted())
                        .as("interrupted after the close; before it: " + ignored)
                        .isFalse();
            }
        }
        return lost;
    }
}
