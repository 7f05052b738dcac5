// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testkit;

import io.lockkeeper.memory.MemoryCore;
import io.lockkeeper.memory.MemoryStore;
import io.lockkeeper.spi.LockStore;
import io.lockkeeper.spi.Ticker;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * Time that stands still until a test makes it jump. A keeper on a store with this time uses it, too: for leases,
 * renewals and waits.
 *
 * <pre>{@code
 * VirtualTime time = new VirtualTime();
 * Lockkeeper keeper = Lockkeeper.on(time.newStore());
 * Lease lease = keeper.lock("a", LockOptions.defaults().fixedLease(Duration.ofSeconds(5))).acquire();
 * time.jump(Duration.ofSeconds(5));
 * assert !lease.isValid();
 * }</pre>
 *
 * <p>A jump has the effect of a pause of the whole process: a jump beyond the end of a lease loses it, even if it would have
 * been renewed in time. To see renewals, jump by a third of the lease and wait for each of them.
 */
public final class VirtualTime implements Ticker {
    private final AtomicLong now = new AtomicLong(1_000_000_000);
    private final Map<Thread, Long> parked = new ConcurrentHashMap<>();

    /** Time that stands still. */
    public VirtualTime() {}

    /** A new memory store with this time; keepers created {@code on} the same store share its locks. */
    public LockStore newStore() {
        return new MemoryStore(MemoryCore.on(this));
    }

    /** Moves the time forward by this much, at once. */
    public void jump(Duration by) {
        if (by.isNegative()) {
            throw new IllegalArgumentException("time passes by " + by + "; allowed is nothing negative");
        }
        long then = now.addAndGet(by.toNanos());
        parked.forEach((thread, deadline) -> {
            if (deadline <= then) {
                LockSupport.unpark(thread);
            }
        });
    }

    @Override
    public long nanos() {
        return now.get();
    }

    @Override
    public void parkUntil(long deadline) {
        Thread thread = Thread.currentThread();
        parked.put(thread, deadline);
        try {
            if (now.get() < deadline) {
                LockSupport.park(this);
            }
        } finally {
            parked.remove(thread);
        }
    }
}
