// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.DistributedLock;
import io.lockkeeper.Lease;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.memory.MemoryCore;
import io.lockkeeper.memory.MemoryStore;
import io.lockkeeper.tck.support.Contract;
import io.lockkeeper.testkit.FaultyStore;
import io.lockkeeper.testkit.StepKind;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.function.Executable;

/**
 * H25: virtual threads. They are there from Java 21 on; before that these tests are not made. (A virtual thread that is
 * interrupted in a blocking step would have its socket closed, so its steps are made on a thread of the lane.)
 */
class VirtualThreadsTest {
    private int counter;

    @TestFactory
    Stream<DynamicTest> virtualThreads() {
        if (Runtime.version().feature() < 21) {
            return Stream.empty();
        }
        return Stream.of(
                test("exclude each other, in both styles", this::excludeEachOther),
                test("re-enter what they own, and nobody else's", this::reenterTheirOwn),
                test("have their steps made on platform threads", this::stepsOnPlatformThreads),
                test("leave the queue when they are interrupted", this::leaveWhenInterrupted));
    }

    private static DynamicTest test(String name, Executable test) {
        return DynamicTest.dynamicTest(name, test);
    }

    private static Thread start(Runnable task) {
        try {
            Method start = Thread.class.getMethod("startVirtualThread", Runnable.class);
            return (Thread) start.invoke(null, task);
        } catch (ReflectiveOperationException e) {
            throw new LinkageError("there are virtual threads from Java 21 on", e);
        }
    }

    private void excludeEachOther() throws InterruptedException {
        try (Lockkeeper keeper = Lockkeeper.connect("memory:")) {
            int threads = 200;
            int times = 20;
            counter = 0;
            List<Thread> all = new ArrayList<>();
            for (int i = 0; i < threads; i++) {
                boolean fair = i % 4 == 0;
                boolean handle = i % 2 == 0;
                DistributedLock lock = keeper.lock("v", LockOptions.defaults().fair(fair));
                all.add(start(() -> {
                    for (int n = 0; n < times; n++) {
                        if (handle) {
                            try (Lease lease = lock.acquire()) {
                                counter++;
                                lease.ensureValid();
                            } catch (InterruptedException e) {
                                throw new AssertionError(e);
                            }
                        } else {
                            lock.lock();
                            try {
                                counter++;
                            } finally {
                                lock.unlock();
                            }
                        }
                    }
                }));
            }
            for (Thread thread : all) {
                thread.join(TimeUnit.SECONDS.toMillis(60));
                assertThat(thread.isAlive()).isFalse();
            }
            assertThat(counter).isEqualTo(threads * times);
        }
    }

    private void reenterTheirOwn() throws InterruptedException {
        try (Lockkeeper keeper = Lockkeeper.connect("memory:")) {
            DistributedLock lock = keeper.lock("v");
            Set<String> seen = ConcurrentHashMap.newKeySet();
            CountDownLatch held = new CountDownLatch(1);
            CountDownLatch tried = new CountDownLatch(1);
            Thread owner = start(() -> {
                lock.lock();
                lock.lock();
                held.countDown();
                try {
                    tried.await();
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
                seen.add("count " + lock.holdCount());
                lock.unlock();
                lock.unlock();
            });
            assertThat(held.await(30, TimeUnit.SECONDS)).isTrue();
            Thread other = start(() -> seen.add("other " + lock.tryLock()));
            other.join();
            tried.countDown();
            owner.join();
            assertThat(seen).containsExactlyInAnyOrder("count 2", "other false");
            assertThat(lock.isLocked()).isFalse();
        }
    }

    private void stepsOnPlatformThreads() throws InterruptedException {
        FaultyStore store = FaultyStore.on(new MemoryStore(MemoryCore.system()));
        Set<String> threads = ConcurrentHashMap.newKeySet();
        store.observe((kind, argument) -> threads.add(Thread.currentThread().getName()));
        try (Lockkeeper keeper = Lockkeeper.on(store)) {
            start(() -> keeper.lock("v").tryAcquire().orElseThrow().close()).join();
            assertThat(store.count(StepKind.RELEASE)).isEqualTo(1);
            assertThat(threads).isNotEmpty().allMatch(name -> name.contains("-step-"));
        }
    }

    private void leaveWhenInterrupted() throws InterruptedException {
        try (Lockkeeper keeper = Lockkeeper.connect("memory:")) {
            Lease held = keeper.lock("v").tryAcquire().orElseThrow();
            CountDownLatch ended = new CountDownLatch(1);
            Thread waiter = start(() -> {
                try {
                    keeper.lock("v", LockOptions.defaults().fair(true))
                            .acquire()
                            .close();
                } catch (InterruptedException e) {
                    ended.countDown();
                }
            });
            Contract.await("the claim is queued", () -> waitersOf(keeper) == 1);
            waiter.interrupt();
            assertThat(ended.await(30, TimeUnit.SECONDS)).isTrue();
            assertThat(waitersOf(keeper)).isZero();
            held.close();
            assertThat(keeper.inspector().inspect("v")).isEmpty();
        }
    }

    private static int waitersOf(Lockkeeper keeper) {
        return keeper.inspector().inspect("v").orElseThrow().waiters();
    }
}
