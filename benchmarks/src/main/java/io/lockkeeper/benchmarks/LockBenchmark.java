// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.benchmarks;

import io.lockkeeper.DistributedLock;
import io.lockkeeper.Lease;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Lockkeeper;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Threads;
import org.openjdk.jmh.annotations.Warmup;

/**
 * What the engine itself costs: locks in {@code memory:}, where a step takes no round trip, compared with a plain
 * {@link ReentrantLock} in the same run. The ratio is what counts.
 */
@SuppressWarnings({"NullAway.Init", "LockNotBeforeTry"}) // JMH calls Setup first; nothing here can throw in between
@State(Scope.Benchmark)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
@Fork(3)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class LockBenchmark {
    /** What is measured. */
    @Param({"reentrantlock", "lockkeeper", "lockkeeper-fair"})
    public String contender = "";

    private Lockkeeper keeper;
    private Lock lock;
    private DistributedLock handles;

    /** Makes the locks. */
    @Setup
    public void connect() {
        keeper = Lockkeeper.connect("memory:");
        boolean fair = contender.endsWith("fair");
        handles = keeper.lock("benchmark", LockOptions.defaults().fair(fair));
        lock = contender.equals("reentrantlock") ? new ReentrantLock() : handles;
    }

    /** Closes the keeper. */
    @TearDown
    public void close() {
        keeper.close();
    }

    /** One thread locks and unlocks. */
    @Benchmark
    @Threads(1)
    public void uncontended() {
        lock.lock();
        lock.unlock();
    }

    /** One thread that holds the lock enters once more. */
    @Benchmark
    @Threads(1)
    public void reentry(Held held) {
        held.lock.lock();
        held.lock.unlock();
    }

    /** Eight threads on one name. */
    @Benchmark
    @Threads(8)
    public void eightThreads() {
        lock.lock();
        lock.unlock();
    }

    /** Thirty-two threads on one name. */
    @Benchmark
    @Threads(32)
    public void thirtyTwoThreads() {
        lock.lock();
        lock.unlock();
    }

    /** The handle style, for comparison with {@link #uncontended}. */
    @Benchmark
    @Threads(1)
    public boolean handle() throws InterruptedException {
        if (contender.equals("reentrantlock")) {
            lock.lock();
            lock.unlock();
            return true;
        }
        Lease lease = handles.acquire();
        return lease.release();
    }

    /** A lock that its thread holds. */
    @State(Scope.Thread)
    public static class Held {
        private Lock lock;

        /** Takes it. */
        @Setup
        public void hold(LockBenchmark benchmark) {
            lock = benchmark.lock;
            lock.lock();
        }

        /** Gives it back. */
        @TearDown
        public void letGo() {
            lock.unlock();
        }
    }
}
