// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.benchmarks.redis;

import io.lockkeeper.benchmarks.race.Contender;
import io.lockkeeper.benchmarks.race.Parallel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiFunction;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RPermitExpirableSemaphore;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** Redisson's locks, kept alive by its watchdog, with its defaults. */
final class RedissonContender implements Contender {
    static final BiFunction<RedissonClient, String, RLock> PLAIN = RedissonClient::getLock;
    static final BiFunction<RedissonClient, String, RLock> FAIR = RedissonClient::getFairLock;
    static final BiFunction<RedissonClient, String, RLock> FENCED = RedissonClient::getFencedLock;

    /** Of a permit, which the watchdog does not keep. */
    private static final long LEASE_SECONDS = 30;

    private final String url;
    private final BiFunction<RedissonClient, String, RLock> kind;
    private final RedissonClient client;

    RedissonContender(String url, BiFunction<RedissonClient, String, RLock> kind) {
        this.url = url;
        this.kind = kind;
        this.client = Redisson.create(config(url));
    }

    private static Config config(String url) {
        Config config = new Config();
        config.useSingleServer().setAddress(url);
        return config;
    }

    @Override
    public Held lock(String name) throws InterruptedException {
        return locked(kind.apply(client, "redisson:" + name));
    }

    private static Held locked(RLock lock) throws InterruptedException {
        lock.lockInterruptibly();
        return lock::unlock;
    }

    @Override
    public Held read(String name) throws InterruptedException {
        return locked(client.getReadWriteLock("redisson-rw:" + name).readLock());
    }

    @Override
    public Held write(String name) throws InterruptedException {
        return locked(client.getReadWriteLock("redisson-rw:" + name).writeLock());
    }

    @Override
    public Held permit(String name, int limit) throws InterruptedException {
        RPermitExpirableSemaphore semaphore = client.getPermitExpirableSemaphore("redisson-permits:" + name);
        semaphore.trySetPermits(limit);
        String permit = semaphore.acquire(LEASE_SECONDS, java.util.concurrent.TimeUnit.SECONDS);
        return () -> semaphore.release(permit);
    }

    @Override
    public Kept keep(int names, Duration lease) throws Exception {
        Config config = config(url);
        config.setLockWatchdogTimeout(lease.toMillis());
        RedissonClient keeping = Redisson.create(config);
        List<RLock> locks = new ArrayList<>();
        for (int i = 0; i < names; i++) {
            locks.add(kind.apply(keeping, "redisson:idle-" + i));
        }
        // Owned by numbers in place of threads, which end before they are released.
        Parallel.each(names, i -> locks.get(i).lockAsync(i + 1).get());
        return new Kept() {
            @Override
            public int alive() {
                return (int) locks.stream().filter(RLock::isLocked).count();
            }

            @Override
            public void release() throws Exception {
                Parallel.each(names, i -> locks.get(i).unlockAsync(i + 1).get());
                keeping.shutdown();
            }
        };
    }

    @Override
    public void close() {
        client.shutdown();
    }
}
