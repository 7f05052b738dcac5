// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.redis;

import io.lockkeeper.Lease;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.redis.server.JedisVersion;
import java.lang.reflect.InvocationTargetException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.UnifiedJedis;

/**
 * Uses locks in a separate JVM, whose class path has another Jedis: by URL, and through each client that this Jedis has.
 *
 * <pre>OtherJedis PORT-OF-A-CLUSTER-OF-ONE-NODE</pre>
 */
final class OtherJedis {
    private static final LockOptions LEASE = LockOptions.defaults().fixedLease(Duration.ofSeconds(30));

    private OtherJedis() {}

    public static void main(String[] words) throws Exception {
        HostAndPort address = new HostAndPort("127.0.0.1", Integer.parseInt(words[0]));
        StringBuilder done = new StringBuilder("Jedis " + JedisVersion.text() + ":");
        for (String scheme : new String[] {"redis", "redis-cluster"}) {
            String url = scheme + "://" + address + "?operationTimeout=10s";
            try (Lockkeeper a = Lockkeeper.connect(url);
                    Lockkeeper b = Lockkeeper.connect(url)) {
                use(a, b);
            }
            done.append(' ').append(scheme);
        }
        for (String type : new String[] {"RedisClient", "JedisPooled", "RedisClusterClient", "JedisCluster"}) {
            UnifiedJedis client = client(type, address);
            if (client != null) {
                try (client;
                        RedisStore one = RedisStore.of(client);
                        RedisStore two = RedisStore.of(client);
                        Lockkeeper a = Lockkeeper.on(one);
                        Lockkeeper b = Lockkeeper.on(two)) {
                    use(a, b);
                }
                done.append(' ').append(type);
            }
        }
        System.out.println(done);
    }

    /** Made as applications make one, where this Jedis has it. */
    private static @Nullable UnifiedJedis client(String type, HostAndPort address) throws Exception {
        try {
            Class<?> found = Class.forName("redis.clients.jedis." + type);
            try {
                return (UnifiedJedis) found.getConstructor(HostAndPort.class).newInstance(address);
            } catch (NoSuchMethodException e) {
                return (UnifiedJedis)
                        found.getMethod("create", HostAndPort.class).invoke(null, address);
            }
        } catch (ClassNotFoundException | NoSuchMethodException e) {
            return null;
        } catch (InvocationTargetException e) {
            throw new IllegalStateException(type, e.getCause());
        }
    }

    /** A hold that is renewed, and handed over to another client by a signal. */
    private static void use(Lockkeeper a, Lockkeeper b) throws Exception {
        Lease held = a.lock("a", LEASE).acquire();
        CompletableFuture<Lease> waiting = b.lock("a", LEASE).acquireAsync();
        Admin.await("it waits", () -> a.inspector().inspect("a").orElseThrow().waiters() == 1);
        if (!held.renew(Duration.ofSeconds(30)) || !held.release()) {
            throw new IllegalStateException("the hold was not kept");
        }
        waiting.get(Admin.LONG.toSeconds(), TimeUnit.SECONDS).close();
    }
}
