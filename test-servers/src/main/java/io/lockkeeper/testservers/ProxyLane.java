// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testservers;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** What is done to all bytes that go one way through a proxy, and how many there were. */
final class ProxyLane {
    enum Mode {
        PASS,
        HOLD,
        DROP
    }

    final AtomicLong received = new AtomicLong();
    final AtomicLong delivered = new AtomicLong();

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private Mode mode = Mode.PASS;
    private long delayNanos;
    private long drops;

    void set(Mode newMode, Duration delay) {
        lock.lock();
        try {
            mode = newMode;
            drops += newMode == Mode.DROP ? 1 : 0;
            delayNanos = delay.toNanos();
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    boolean isDropping() {
        lock.lock();
        try {
            return mode == Mode.DROP;
        } finally {
            lock.unlock();
        }
    }

    /** What bytes that arrive now have to show to {@link #mayPass}: how often bytes had been dropped; -1 if they are just now. */
    long ticket() {
        lock.lock();
        try {
            return mode == Mode.DROP ? -1 : drops;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Waits until it is known whether bytes go on.
     *
     * @param arrived when they arrived, by {@link System#nanoTime()}
     * @param ticket from then
     * @return false if bytes were dropped then or have been since, be it for a moment
     */
    boolean mayPass(long arrived, long ticket) throws InterruptedException {
        lock.lockInterruptibly();
        try {
            while (true) {
                long left = arrived + delayNanos - System.nanoTime();
                if (mode == Mode.DROP || ticket != drops) {
                    return false;
                } else if (mode == Mode.HOLD) {
                    changed.await();
                } else if (left > 0) {
                    changed.await(left, TimeUnit.NANOSECONDS);
                } else {
                    return true;
                }
            }
        } finally {
            lock.unlock();
        }
    }
}
