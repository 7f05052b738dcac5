// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.quorum;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The threads on which members are asked: a bounded few for each member, so that one that hangs delays no other, and one of
 * its own for renewals. They begin when they are needed and end when they have had nothing to do for a while.
 */
class MemberThreads {
    private static final int STEPS_AT_ONCE = 8;

    /** A member that does not answer is not given more than this to do later. */
    private static final int STEPS_QUEUED = 256;

    private static final long IDLE_SECONDS = 5;

    private final List<ThreadPoolExecutor> pools = new ArrayList<>();

    /** The threads for one kind of steps of one member. */
    Executor of(int member, Member.Kind kind) {
        int size = kind == Member.Kind.RENEWAL ? 1 : STEPS_AT_ONCE;
        AtomicInteger count = new AtomicInteger();
        String name = "lockkeeper-quorum-" + (member + 1) + (kind == Member.Kind.RENEWAL ? "-renewal-" : "-step-");
        ThreadPoolExecutor pool = new ThreadPoolExecutor(
                size, size, IDLE_SECONDS, TimeUnit.SECONDS, new LinkedBlockingQueue<>(STEPS_QUEUED), task -> {
                    Thread thread = new Thread(task, name + count.incrementAndGet());
                    thread.setDaemon(true);
                    return thread;
                });
        pool.allowCoreThreadTimeOut(true);
        pools.add(pool);
        return pool;
    }

    /** Lets what is under way end, for at most this long per member. */
    void close(Duration wait) {
        pools.forEach(ThreadPoolExecutor::shutdown);
        boolean interrupted = Thread.interrupted();
        for (ThreadPoolExecutor pool : pools) {
            try {
                pool.awaitTermination(interrupted ? 0 : wait.toNanos(), TimeUnit.NANOSECONDS);
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
