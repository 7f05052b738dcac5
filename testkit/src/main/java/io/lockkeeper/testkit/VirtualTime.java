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
 * Time that stands still until it is told to jump. A keeper on a store of this time goes by it, too: leases, renewals and
 * waits all do.
 *
 * <pre>{@code
 * VirtualTime time = new VirtualTime();
 * Lockkeeper keeper = Lockkeeper.on(time.newStore());
 * Lease lease = keeper.lock("a", LockOptions.defaults().fixedLease(Duration.ofSeconds(5))).acquire();
 * time.jump(Duration.ofSeconds(5));
 * assert !lease.isValid();
 * }</pre>
 *
 * <p>A jump is what a pause of the whole process is to it: a jump beyond a lease loses it, however well it would have been
 * renewed. To see renewals, jump by a third of the lease and await each of them.
 */
public final class VirtualTime implements Ticker {
    private final AtomicLong now = new AtomicLong(1_000_000_000);
    private final Map<Thread, Long> parked = new ConcurrentHashMap<>();

    /** Time that stands still. */
    public VirtualTime() {}

    /** A memory store that goes by this time; keepers made {@code on} the same one share its locks. */
    public LockStore newStore() {
        return new MemoryStore(MemoryCore.on(this));
    }

    /** Lets time pass at once. */
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
