// SPDX-License-Identifier: Apache-2.0
package smoke;

import io.lockkeeper.LockOptions;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.redis.RedisStore;
import io.lockkeeper.tck.LockStoreTck;
import io.lockkeeper.testkit.VirtualTime;
import java.net.URI;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import redis.clients.jedis.RedisClient;

/** Uses each store, on the module path: arguments are their URLs. */
public final class Main {
    private static volatile Throwable unexpected;

    private Main() {}

    public static void main(String[] urls) throws Exception {
        Thread.setDefaultUncaughtExceptionHandler((thread, e) -> unexpected = e); // such as a listener that dies
        long token = 0;
        for (String url : urls) {
            // Two keepers that share nothing but the store; memory: is private, so there it is one.
            try (var a = Lockkeeper.connect(url);
                    var b = url.equals("memory:") ? a : Lockkeeper.connect(url)) {
                token = handOver(a, b);
            }
            if (url.startsWith("redis:")) {
                try (var client = RedisClient.create(URI.create(url));
                        var one = RedisStore.of(client);
                        var two = RedisStore.of(client);
                        var a = Lockkeeper.on(one);
                        var b = Lockkeeper.on(two)) {
                    token = handOver(a, b);
                }
            }
        }
        if (VirtualTime.class.getModule() == LockStoreTck.class.getModule() || !Main.class.getModule().isNamed()) {
            throw new IllegalStateException("these are no modules");
        }
        if (unexpected != null) {
            throw new IllegalStateException("a thread died", unexpected);
        }
        System.out.println("held " + token);
    }

    private static long handOver(Lockkeeper a, Lockkeeper b) throws Exception {
        var options = LockOptions.defaults().lease(Duration.ofSeconds(10));
        var held = a.lock("demo", options).acquire();
        var waiting = b.lock("demo", options).acquireAsync();
        if (!held.release()) {
            throw new IllegalStateException("lost");
        }
        try (var next = waiting.get(30, TimeUnit.SECONDS)) {
            return next.token();
        }
    }
}
