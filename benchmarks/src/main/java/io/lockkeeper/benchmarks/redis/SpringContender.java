// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.benchmarks.redis;

import io.lockkeeper.benchmarks.race.Contender;
import io.lockkeeper.benchmarks.race.SpringLocks;
import java.net.URI;
import java.time.Duration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.integration.redis.util.RedisLockRegistry;

/** Spring Integration's {@link RedisLockRegistry}, which polls every 100 ms or is notified through a channel. */
final class SpringContender implements Contender {
    private final LettuceConnectionFactory connections;
    private final RedisLockRegistry.RedisLockType type;
    private final RedisLockRegistry registry;

    SpringContender(String url, boolean listens) {
        URI address = URI.create(url);
        connections = new LettuceConnectionFactory(address.getHost(), address.getPort());
        connections.afterPropertiesSet();
        connections.start();
        type = listens ? RedisLockRegistry.RedisLockType.PUB_SUB_LOCK : RedisLockRegistry.RedisLockType.SPIN_LOCK;
        registry = new RedisLockRegistry(connections, "spring-" + type);
        registry.setRedisLockType(type);
    }

    @Override
    public Held lock(String name) throws InterruptedException {
        return SpringLocks.lock(registry, name);
    }

    @Override
    public Kept keep(int names, Duration lease) throws InterruptedException {
        RedisLockRegistry kept = new RedisLockRegistry(connections, "spring-" + type, lease.toMillis());
        kept.setRedisLockType(type);
        kept.setCacheCapacity(2 * names);
        return SpringLocks.keep(kept, names, lease);
    }

    @Override
    public void close() {
        registry.destroy();
        connections.destroy();
    }
}
