// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.benchmarks.race;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Future;

/** The processes of one contender; the first lives for the whole race, the others as long as workloads need them. */
final class Crew implements AutoCloseable {
    /** For threads to be made and to wait for the start, in several processes on few processors. */
    private static final Duration LEAD = Duration.ofMillis(30);

    /** Beyond the length of a slice: a thread that waits at its end has to get the lock once more. */
    private static final Duration PATIENCE = Duration.ofMinutes(2);

    private final Contender.Entry contender;
    private final Starter starter;
    private final Page page;
    private final List<WorkerJvm> workers = new ArrayList<>();

    /** Starts a process of a contender. */
    interface Starter {
        WorkerJvm start(String contender) throws IOException;
    }

    Crew(Contender.Entry contender, Starter starter, Page page) {
        this.contender = contender;
        this.starter = starter;
        this.page = page;
    }

    Contender.Entry contender() {
        return contender;
    }

    /** Starts or ends processes. Whether there are new ones, which are not warm yet. */
    boolean resize(int processes) throws IOException, InterruptedException {
        boolean grows = workers.size() < processes;
        while (workers.size() < processes) {
            workers.add(starter.start(contender.name()));
        }
        while (workers.size() > processes) {
            workers.remove(workers.size() - 1).close();
        }
        return grows;
    }

    /** One slice, in all processes at the same time. */
    Slice run(Workload workload, Duration length) throws IOException, InterruptedException {
        page.clear();
        long startAt = System.nanoTime() + LEAD.toNanos();
        List<Future<Slice>> answers = new ArrayList<>();
        for (int i = 0; i < workload.processes(); i++) {
            answers.add(workers.get(i).ask(new Order.Run(workload, i, startAt, length), Slice.class));
        }
        List<Slice> slices = new ArrayList<>();
        for (int i = 0; i < workload.processes(); i++) {
            slices.add(workers.get(i).await(answers.get(i), length.plus(PATIENCE)));
        }
        Slice sum = Slice.sum(slices);
        return sum.withLost(sum.additions() - page.additions());
    }

    int keep(int names, Duration lease) throws IOException, InterruptedException {
        return workers.get(0).await(workers.get(0).ask(new Order.Keep(names, lease), Integer.class), PATIENCE);
    }

    Slice.Cost idle(Duration length) throws IOException, InterruptedException {
        return workers.get(0)
                .await(workers.get(0).ask(new Order.Idle(length), Slice.Cost.class), length.plus(PATIENCE));
    }

    int drop() throws IOException, InterruptedException {
        return workers.get(0).await(workers.get(0).ask(new Order.Drop(), Integer.class), PATIENCE);
    }

    @Override
    public void close() throws InterruptedException {
        for (WorkerJvm worker : workers) {
            worker.close();
        }
        workers.clear();
    }
}
