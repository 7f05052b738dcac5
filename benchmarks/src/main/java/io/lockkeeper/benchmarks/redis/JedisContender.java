// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.benchmarks.redis;

import io.lockkeeper.benchmarks.race.Contender;
import io.lockkeeper.benchmarks.race.Parallel;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import redis.clients.jedis.ConnectionPoolConfig;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.params.SetParams;

/** The floor: SET NX PX and a script that compares and deletes, on pooled connections. An attempt that fails is repeated soon. */
final class JedisContender implements Contender {
    private static final int CONNECTIONS = 64;
    private static final int RENEWED_TOGETHER = 1_000;

    private static final String READ = "if redis.call('HEXISTS', KEYS[1], 'w') == 1 then return 0 end"
            + " redis.call('HINCRBY', KEYS[1], 'r', 1) redis.call('PEXPIRE', KEYS[1], ARGV[1]) return 1";
    private static final String END_READ = "redis.call('HINCRBY', KEYS[1], 'r', -1) return 1";
    private static final String WRITE = "if redis.call('HEXISTS', KEYS[1], 'w') == 1 or"
            + " tonumber(redis.call('HGET', KEYS[1], 'r') or 0) > 0 then return 0 end"
            + " redis.call('HSET', KEYS[1], 'w', 1) redis.call('PEXPIRE', KEYS[1], ARGV[1]) return 1";
    private static final String END_WRITE = "return redis.call('HDEL', KEYS[1], 'w')";
    private static final String TAKE =
            "if tonumber(redis.call('GET', KEYS[1]) or 0) >= tonumber(ARGV[2]) then return 0 end"
                    + " redis.call('INCR', KEYS[1]) redis.call('PEXPIRE', KEYS[1], ARGV[1]) return 1";
    private static final String GIVE = "redis.call('DECR', KEYS[1]) return 1";
    private static final String RENEW = "local n = 0 for i, key in ipairs(KEYS) do"
            + " if redis.call('GET', key) == ARGV[1] then n = n + redis.call('PEXPIRE', key, ARGV[2]) end end return n";

    private final RedisClient client;
    private final String own = UUID.randomUUID() + ":";
    private final AtomicLong count = new AtomicLong();
    private final Script release;
    private final Script read;
    private final Script endRead;
    private final Script write;
    private final Script endWrite;
    private final Script take;
    private final Script give;
    private final Script renew;

    /** A script that the server knows by its digest. */
    private final class Script {
        private final String digest;

        Script(String text) {
            digest = client.scriptLoad(text);
        }

        Object call(List<String> keys, String... arguments) {
            return client.evalsha(digest, keys, List.of(arguments));
        }
    }

    JedisContender(String url) {
        URI address = URI.create(url);
        ConnectionPoolConfig pool = new ConnectionPoolConfig();
        pool.setMaxTotal(CONNECTIONS);
        pool.setMaxIdle(CONNECTIONS);
        client = RedisClient.builder()
                .hostAndPort(address.getHost(), address.getPort())
                .poolConfig(pool)
                .build();
        release = new Script(Poll.RELEASE);
        read = new Script(READ);
        endRead = new Script(END_READ);
        write = new Script(WRITE);
        endWrite = new Script(END_WRITE);
        take = new Script(TAKE);
        give = new Script(GIVE);
        renew = new Script(RENEW);
    }

    @Override
    public Held lock(String name) {
        String key = "jedis:" + name;
        String value = take(key, Poll.LEASE);
        return () -> Poll.expectOne(release.call(List.of(key), value));
    }

    private String take(String key, int lease) {
        String value = own + count.incrementAndGet();
        SetParams ifFree = SetParams.setParams().nx().px(lease);
        Poll.until(() -> client.set(key, value, ifFree) != null);
        return value;
    }

    @Override
    public Held read(String name) {
        return shared(read, endRead, name);
    }

    @Override
    public Held write(String name) {
        return shared(write, endWrite, name);
    }

    private Held shared(Script begin, Script end, String name) {
        List<String> key = List.of("jedis-rw:" + name);
        Poll.until(() -> begin.call(key, "" + Poll.LEASE).equals(1L));
        return () -> Poll.expectOne(end.call(key));
    }

    @Override
    public Held permit(String name, int limit) {
        List<String> key = List.of("jedis-permits:" + name);
        Poll.until(() -> take.call(key, "" + Poll.LEASE, "" + limit).equals(1L));
        return () -> Poll.expectOne(give.call(key));
    }

    @Override
    public Kept keep(int names, Duration lease) throws Exception {
        int millis = (int) lease.toMillis();
        String mine = own + "kept";
        List<String> keys = new ArrayList<>();
        for (int i = 0; i < names; i++) {
            keys.add("jedis:idle-" + i);
        }
        AtomicInteger alive = new AtomicInteger(names);
        Parallel.each(
                names, i -> client.set(keys.get(i), mine, SetParams.setParams().px(millis)));
        ScheduledExecutorService renewing = Executors.newSingleThreadScheduledExecutor();
        Runnable round = () -> {
            long kept = 0;
            for (int i = 0; i < names; i += RENEWED_TOGETHER) {
                List<String> part = keys.subList(i, Math.min(names, i + RENEWED_TOGETHER));
                kept += (Long) renew.call(part, mine, "" + millis);
            }
            alive.set((int) kept);
        };
        round.run();
        renewing.scheduleAtFixedRate(round, millis / 3, millis / 3, TimeUnit.MILLISECONDS);
        return new Kept() {
            @Override
            public int alive() {
                return alive.get();
            }

            @Override
            public void release() throws Exception {
                renewing.shutdownNow();
                Parallel.each(names, i -> client.del(keys.get(i)));
            }
        };
    }

    @Override
    public void close() {
        client.close();
    }
}
