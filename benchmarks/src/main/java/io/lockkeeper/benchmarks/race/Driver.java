// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.benchmarks.race;

import com.sun.management.OperatingSystemMXBean;
import io.lockkeeper.benchmarks.race.Contender.Held;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** Runs slices on a contender, in this process. */
final class Driver {
    /** After a failure: a contender that fails at once must not take the processor from the others' servers. */
    private static final long AFTER_FAILURE = TimeUnit.MILLISECONDS.toNanos(1);

    private static final OperatingSystemMXBean SYSTEM =
            (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

    private final Contender contender;
    private final Page page;

    Driver(Contender contender, Page page) {
        this.contender = contender;
        this.page = page;
    }

    /** Runs one slice; returns when all threads have ended. */
    Slice run(Order.Run order) throws InterruptedException {
        List<Tally> tallies = new ArrayList<>();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < order.workload().threads(); i++) {
            Tally tally = new Tally();
            int number = i;
            tallies.add(tally);
            threads.add(new Thread(() -> drive(order, number, tally), "race-" + i));
        }
        long cpu = SYSTEM.getProcessCpuTime();
        threads.forEach(Thread::start);
        for (Thread thread : threads) {
            thread.join();
        }
        long nanos = System.nanoTime() - order.startAt();
        Slice slice = Slice.sum(tallies.stream().map(t -> t.slice(nanos)).toList());
        return new Slice(
                slice.acquisitions(),
                slice.additions(),
                slice.fewest(),
                slice.most(),
                slice.overlaps(),
                slice.errors(),
                slice.firstError(),
                slice.waits(),
                new Slice.Cost(nanos, SYSTEM.getProcessCpuTime() - cpu));
    }

    /** What a while of doing nothing costs. */
    static Slice.Cost idle(java.time.Duration length) throws InterruptedException {
        long start = System.nanoTime();
        long cpu = SYSTEM.getProcessCpuTime();
        TimeUnit.NANOSECONDS.sleep(length.toNanos());
        return new Slice.Cost(System.nanoTime() - start, SYSTEM.getProcessCpuTime() - cpu);
    }

    private void drive(Order.Run order, int number, Tally tally) {
        long end = order.startAt() + order.length().toNanos();
        pauseUntil(order.startAt());
        if (order.workload().shape() == Workload.Shape.HAND_OFF) {
            new HandOff(contender, page, order.process()).run(end, tally);
            return;
        }
        while (System.nanoTime() - end < 0) {
            try {
                once(order, number, tally);
                if (System.nanoTime() - end < 0) {
                    tally.inTime++;
                }
            } catch (Exception e) {
                tally.failed(e);
                LockSupport.parkNanos(AFTER_FAILURE);
            }
        }
    }

    private void once(Order.Run order, int number, Tally tally) throws Exception {
        Workload workload = order.workload();
        String name = workload.name();
        Page.Work work = () -> work(workload.work());
        long me = 1_000L * order.process() + number + 1;
        boolean reads = workload.shape() == Workload.Shape.READ_WRITE
                && ThreadLocalRandom.current().nextInt(100) < Workload.READS;
        long start = System.nanoTime();
        Held held =
                switch (workload.shape()) {
                    case OWN_NAMES -> contender.lock(name + "-" + number);
                    case ONE_NAME -> contender.lock(name);
                    case READ_WRITE -> reads ? contender.read(name) : contender.write(name);
                    case PERMITS -> contender.permit(name, Workload.LIMIT);
                    case HAND_OFF, IDLE -> throw new IllegalStateException(workload + " has no steps like this");
                };
        tally.waits.record(System.nanoTime() - start);
        if (reads) {
            tally.overlaps += page.shared(0, work);
        } else if (workload.shape() == Workload.Shape.PERMITS) {
            tally.overlaps += page.among(0, Workload.LIMIT, work);
        } else {
            tally.overlaps += page.alone(workload.shape() == Workload.Shape.OWN_NAMES ? number : 0, me, work);
            tally.additions++;
        }
        tally.acquisitions++;
        held.release();
    }

    /** As if it waited for something other than a processor, of which there are few; no work is no wait. */
    private static void work(int micros) {
        if (micros > 0) {
            pauseUntil(System.nanoTime() + TimeUnit.MICROSECONDS.toNanos(micros));
        }
    }

    static void pauseUntil(long time) {
        for (long left = time - System.nanoTime(); left > 0; left = time - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
    }
}
