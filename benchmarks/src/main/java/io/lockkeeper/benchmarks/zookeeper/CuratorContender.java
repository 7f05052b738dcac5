// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.benchmarks.zookeeper;

import io.lockkeeper.benchmarks.race.Contender;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.framework.recipes.locks.Lease;

/** Curator's {@link InterProcessMutex} and its kin, one object a name and process. */
final class CuratorContender implements Contender {
    private final CuratorFramework curator;
    private final Map<String, InterProcessMutex> mutexes = new ConcurrentHashMap<>();
    private final Map<String, InterProcessReadWriteLock> shared = new ConcurrentHashMap<>();
    private final Map<String, InterProcessSemaphoreV2> permits = new ConcurrentHashMap<>();

    CuratorContender(String addresses) throws InterruptedException {
        curator = Clients.open(addresses);
    }

    @Override
    public Held lock(String name) throws Exception {
        InterProcessMutex mutex = mutexes.computeIfAbsent(name, n -> new InterProcessMutex(curator, "/curator/m-" + n));
        mutex.acquire();
        return mutex::release;
    }

    private InterProcessReadWriteLock shared(String name) {
        return shared.computeIfAbsent(name, n -> new InterProcessReadWriteLock(curator, "/curator/s-" + n));
    }

    @Override
    public Held read(String name) throws Exception {
        InterProcessMutex mutex = shared(name).readLock();
        mutex.acquire();
        return mutex::release;
    }

    @Override
    public Held write(String name) throws Exception {
        InterProcessMutex mutex = shared(name).writeLock();
        mutex.acquire();
        return mutex::release;
    }

    @Override
    public Held permit(String name, int limit) throws Exception {
        InterProcessSemaphoreV2 semaphore =
                permits.computeIfAbsent(name, n -> new InterProcessSemaphoreV2(curator, "/curator/p-" + n, limit));
        Lease lease = semaphore.acquire();
        return () -> semaphore.returnLease(lease);
    }

    /** A mutex is its thread's: one thread takes them all and gives them back. */
    @Override
    public Kept keep(int names, Duration lease) throws Exception {
        ExecutorService owner = Executors.newSingleThreadExecutor();
        Held[] held = new Held[names];
        Callable<Boolean> take = () -> {
            for (int i = 0; i < names; i++) {
                held[i] = lock("idle-" + i);
            }
            return true;
        };
        owner.submit(take).get();
        Kept kept = Clients.kept(curator, held);
        return new Kept() {
            @Override
            public int alive() {
                return kept.alive();
            }

            @Override
            public void release() throws Exception {
                Callable<Boolean> giveBack = () -> {
                    kept.release();
                    return true;
                };
                owner.submit(giveBack).get();
                owner.shutdown();
            }
        };
    }

    @Override
    public void close() {
        curator.close();
    }
}
