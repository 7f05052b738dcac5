// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.benchmarks.zookeeper;

import io.lockkeeper.benchmarks.race.Contender;
import java.time.Duration;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreMutex;

/** Curator's {@link InterProcessSemaphoreMutex}, which any thread may release; an object of it is for one hold at a time. */
final class SemaphoreMutexContender implements Contender {
    private final CuratorFramework curator;

    SemaphoreMutexContender(String addresses) throws InterruptedException {
        curator = Clients.open(addresses);
    }

    @Override
    public Held lock(String name) throws Exception {
        InterProcessSemaphoreMutex mutex = new InterProcessSemaphoreMutex(curator, "/curator/x-" + name);
        mutex.acquire();
        return mutex::release;
    }

    @Override
    public Kept keep(int names, Duration lease) throws Exception {
        Held[] held = new Held[names];
        for (int i = 0; i < names; i++) {
            held[i] = lock("idle-" + i);
        }
        return Clients.kept(curator, held);
    }

    @Override
    public void close() {
        curator.close();
    }
}
