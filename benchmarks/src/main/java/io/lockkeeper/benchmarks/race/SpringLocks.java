// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.benchmarks.race;

import java.time.Duration;
import java.util.concurrent.locks.Lock;
import org.springframework.integration.support.locks.RenewableLockRegistry;

/** What Spring Integration's lock registries have in common. */
public final class SpringLocks {
    /** A few local locks serve all names: several threads with many names each would wait for each other forever. */
    private static final int KEEPERS = 1;

    private SpringLocks() {}

    /** Takes a lock. */
    public static Contender.Held lock(RenewableLockRegistry<?> registry, String name) throws InterruptedException {
        Lock lock = registry.obtain(name);
        lock.lockInterruptibly();
        return lock::unlock;
    }

    /** Takes many, and renews them one by one. */
    public static Contender.Kept keep(RenewableLockRegistry<?> registry, int names, Duration lease)
            throws InterruptedException {
        return KeptOneByOne.take(names, KEEPERS, lease, new KeptOneByOne.Keeping() {
            @Override
            public void take(String name) throws InterruptedException {
                registry.obtain(name).lockInterruptibly();
            }

            @Override
            public boolean renew(String name) {
                try {
                    registry.renewLock(name);
                    return true;
                } catch (IllegalStateException e) {
                    return false;
                }
            }

            @Override
            public void release(String name) {
                registry.obtain(name).unlock();
            }
        });
    }
}
