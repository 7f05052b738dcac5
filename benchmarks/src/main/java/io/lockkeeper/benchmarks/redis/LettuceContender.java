// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.benchmarks.redis;

import io.lettuce.core.RedisClient;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.SetArgs;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;
import io.lockkeeper.benchmarks.race.Contender;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;

/** The other floor: the same on one connection that all threads share, with its own thread. */
final class LettuceContender implements Contender {
    private final RedisClient client;
    private final StatefulRedisConnection<String, String> connection;
    private final RedisCommands<String, String> commands;
    private final String release;
    private final String own = UUID.randomUUID() + ":";
    private final AtomicLong count = new AtomicLong();

    LettuceContender(String url) {
        client = RedisClient.create(url);
        connection = client.connect();
        commands = connection.sync();
        release = commands.scriptLoad(Poll.RELEASE);
    }

    @Override
    public Held lock(String name) {
        String key = "lettuce:" + name;
        String value = own + count.incrementAndGet();
        SetArgs ifFree = SetArgs.Builder.nx().px(Poll.LEASE);
        Poll.until(() -> commands.set(key, value, ifFree) != null);
        return () ->
                Poll.expectOne(commands.<Long>evalsha(release, ScriptOutputType.INTEGER, new String[] {key}, value));
    }

    @Override
    public void close() {
        connection.close();
        client.shutdown();
    }
}
