// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.spi.Ticker;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The one timer: nothing that is due is forgotten, whenever it is asked for, and nothing stops it. */
final class TimerTest {
    private static final long FAR = TimeUnit.HOURS.toNanos(1);

    private final Ticker ticker = Ticker.SYSTEM;
    private final AtomicReference<Timer> timer = new AtomicReference<>();

    @AfterEach
    void end() {
        Timer running = timer.get();
        if (running != null) {
            running.close();
        }
    }

    private Timer start(Timer.Pass pass) {
        Timer created = new Timer(ticker, pass, new Threads("test"));
        timer.set(created);
        return created;
    }

    private static boolean await(CountDownLatch latch) throws InterruptedException {
        return latch.await(Race.LONG_SECONDS, TimeUnit.SECONDS);
    }

    @Test
    void tasksRunInTheOrderOfTheirTimesAndNotBefore() throws Exception {
        Timer created = start(now -> Long.MAX_VALUE);
        List<String> ran = new CopyOnWriteArrayList<>();
        CountDownLatch done = new CountDownLatch(3);
        long base = ticker.nanos();
        long[] delays = {30_000_000, 10_000_000, 20_000_000};
        AtomicInteger early = new AtomicInteger();
        for (long delay : delays) {
            created.schedule(base + delay, () -> {
                early.addAndGet(ticker.nanos() < base + delay ? 1 : 0);
                ran.add(delay / 1_000_000 + " ms");
                done.countDown();
            });
        }
        assertThat(await(done)).isTrue();
        assertThat(ran).containsExactly("10 ms", "20 ms", "30 ms");
        assertThat(early).hasValue(0);
    }

    @Test
    void aCancelledTaskDoesNotRun() throws Exception {
        Timer created = start(now -> Long.MAX_VALUE);
        AtomicInteger ran = new AtomicInteger();
        CountDownLatch done = new CountDownLatch(1);
        long at = ticker.nanos() + 20_000_000;
        Timer.Task task = created.schedule(at, ran::incrementAndGet);
        created.schedule(at + 10_000_000, done::countDown);
        created.cancel(task);
        assertThat(await(done)).isTrue();
        assertThat(ran).hasValue(0);
    }

    @Test
    void aTaskOrPassThatThrowsDoesNotEndIt() throws Exception {
        AtomicInteger passes = new AtomicInteger();
        Timer created = start(now -> {
            if (passes.incrementAndGet() == 1) {
                throw new IllegalStateException("a pass that fails");
            }
            return Long.MAX_VALUE;
        });
        CountDownLatch done = new CountDownLatch(1);
        long now = ticker.nanos();
        created.schedule(now, () -> {
            throw new AssertionError("a task that fails");
        });
        created.schedule(now + 1, done::countDown);
        assertThat(await(done)).isTrue();
    }

    /** A pass looks at everything that is held: what is scheduled, a timeout perhaps, must not cost one each time. */
    @Test
    void tasksRunWithoutAPass() throws Exception {
        AtomicInteger passes = new AtomicInteger();
        Timer created = start(now -> {
            passes.incrementAndGet();
            return now + FAR;
        });
        runTasks(created);
        assertThat(passes).as("nobody has asked for a pass").hasValue(0);
        created.wakeBy(0);
        Rig.await("the pass that was asked for", () -> passes.get() == 1);
        runTasks(created);
        created.wakeBy(ticker.nanos() + 2 * FAR);
        runTasks(created);
        assertThat(passes).as("the next is not due").hasValue(1);
        created.wakeBy(ticker.nanos());
        Rig.await("another that was asked for", () -> passes.get() == 2);
    }

    private void runTasks(Timer created) throws Exception {
        CountDownLatch done = new CountDownLatch(100);
        long now = ticker.nanos();
        for (int i = 0; i < 100; i++) {
            created.schedule(now + i * 100_000L, done::countDown);
        }
        assertThat(await(done)).isTrue();
    }

    @Test
    void noThreadBeginsBeforeItIsNeededAndNoneStaysAfterItIsClosed() throws Exception {
        AtomicReference<Thread> thread = new AtomicReference<>();
        CountDownLatch ran = new CountDownLatch(1);
        Timer created = start(now -> {
            thread.set(Thread.currentThread());
            ran.countDown();
            return now + FAR;
        });
        assertThat(thread.get()).isNull();
        created.wakeBy(0);
        assertThat(await(ran)).isTrue();
        assertThat(thread.get().isDaemon()).isTrue();
        created.close();
        assertThat(thread.get().isAlive()).isFalse();
        created.wakeBy(0); // and none begins again
        created.schedule(0, () -> {});
        assertThat(thread.get().isAlive()).isFalse();
    }

    /**
     * What a pass calls may park (the lock of an executor's queue does) and so use up the permit of the wake-up. That must
     * not be all that there is of it.
     */
    @Test
    void aWakeUpDuringAPassThatParksIsNotLost() throws Exception {
        CountDownLatch inPass = new CountDownLatch(1);
        CountDownLatch asked = new CountDownLatch(1);
        CountDownLatch again = new CountDownLatch(2);
        Timer created = start(now -> {
            again.countDown();
            if (inPass.getCount() > 0) {
                inPass.countDown();
                try {
                    asked.await();
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
                LockSupport.parkNanos(1); // uses the permit up, if there is one
            }
            return Long.MAX_VALUE;
        });
        created.wakeBy(0);
        assertThat(await(inPass)).isTrue();
        created.wakeBy(ticker.nanos());
        asked.countDown();
        assertThat(await(again)).as("a second pass").isTrue();
    }

    /** Whoever asks just when the timer goes to sleep is heard: each value is seen by a pass that began after it was set. */
    @Test
    void noWakeUpIsLostWhenItMeetsTheParking() throws Exception {
        AtomicLong wanted = new AtomicLong();
        AtomicLong seen = new AtomicLong();
        Timer created = start(now -> {
            seen.set(wanted.get());
            return now + FAR;
        });
        for (long i = 1; i <= Tier.pick(20_000, 500_000, 10_000_000); i++) {
            wanted.set(i);
            created.wakeBy(0);
            awaitValue(seen, i);
            Race.linger();
        }
    }

    /** The same for tasks, from several threads at once, with times that are near, now, and past. */
    @Test
    void noTaskIsForgottenWhenManySchedule() throws Exception {
        Timer created = start(now -> now + FAR);
        int each = Tier.pick(5_000, 100_000, 2_000_000);
        AtomicLong ran = new AtomicLong();
        try (Race race = new Race()) {
            race.run(() -> many(created, each, ran), () -> many(created, each, ran), () -> many(created, each, ran));
        }
        awaitValue(ran, 3L * each);
    }

    private boolean many(Timer created, int each, AtomicLong ran) {
        for (int i = 0; i < each; i++) {
            created.schedule(ticker.nanos() + i % 7 * 5_000L - 10_000, ran::incrementAndGet);
            if (i % 16 == 0) {
                Race.linger();
            }
        }
        return true;
    }

    private static void awaitValue(AtomicLong value, long expected) {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(Race.LONG_SECONDS);
        while (value.get() != expected) {
            if (System.nanoTime() > deadline) {
                assertThat(value).as("in time").hasValue(expected);
            }
            Thread.onSpinWait();
        }
    }
}
