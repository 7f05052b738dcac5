// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.redis;

import io.lockkeeper.Lease;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.StaleTokenException;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.RedisClient;

/**
 * A holder in a separate process, which can be paused: takes the lock, says so, and writes when it is sent a line.
 *
 * <pre>RedlockHolder URL PORT-OF-THE-STORAGE</pre>
 */
final class RedlockHolder {
    private RedlockHolder() {}

    public static void main(String[] words) throws Exception {
        PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        try (Lockkeeper keeper = Lockkeeper.connect(words[0]);
                RedisClient storage = RedisClient.create(new HostAndPort("127.0.0.1", Integer.parseInt(words[1])))) {
            RedisFence fence = RedisFence.of(storage);
            CountDownLatch told = new CountDownLatch(1);
            Lease lease = keeper.lock("a", LockOptions.defaults().lease(RedlockRig.LEASE))
                    .acquire()
                    .onLost(loss -> told.countDown());
            fence.enter(lease);
            fence.write(lease, "SET", "data", "A");
            out.println("holds " + lease.token());
            new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8)).readLine();
            String written;
            try {
                written = String.valueOf(fence.write(lease, "SET", "data", "late"));
            } catch (StaleTokenException e) {
                written = "stale";
            }
            boolean isNotified = told.await(Admin.LONG.toSeconds(), TimeUnit.SECONDS);
            out.println(written + " valid=" + lease.isValid() + " notified=" + isNotified);
        }
    }
}
