// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.redis;

import io.lockkeeper.spi.LockStore;
import io.lockkeeper.spi.StoreUrl;
import io.lockkeeper.tck.StoreFixture;
import io.lockkeeper.testservers.RedisServer;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.RedisClient;

/** A Redis, a Sentinel set or a Cluster under test, by its URL. */
final class RedisFixture implements StoreFixture {
    private final String url;
    private final Supplier<? extends Collection<HostAndPort>> masters;
    private final AutoCloseable servers;

    RedisFixture(String url, Supplier<? extends Collection<HostAndPort>> masters, AutoCloseable servers) {
        this.url = url + (url.contains("?") ? "&" : "?") + "operationTimeout=5s";
        this.masters = masters;
        this.servers = servers;
    }

    /** One server. */
    static RedisFixture of(RedisServer server) {
        return new RedisFixture(
                "redis://" + server.address(), () -> List.of(new HostAndPort(server.host(), server.port())), server);
    }

    static RedisStore open(String url) {
        return (RedisStore) new RedisProvider().open(StoreUrl.parse(url));
    }

    @Override
    public LockStore connect() {
        return open(url);
    }

    @Override
    public Optional<String> url() {
        return Optional.of(url);
    }

    /** All records and keys but the token floors, which stay forever, and the store's id. */
    @Override
    public long size() {
        long size = 0;
        for (HostAndPort master : List.copyOf(masters.get())) {
            try (RedisClient client = RedisClient.create(master)) {
                for (String key : client.keys("*")) {
                    if (key.endsWith("}:names")) {
                        size += client.hkeys(key).stream()
                                .filter(field -> !field.startsWith("!"))
                                .count();
                    } else if (!key.endsWith("}:floor") && !key.endsWith(":id")) {
                        size++;
                    }
                }
            }
        }
        return size;
    }

    @Override
    public void close() {
        try {
            servers.close();
        } catch (Exception e) {
            throw new IllegalStateException("the servers did not end", e);
        }
    }
}
