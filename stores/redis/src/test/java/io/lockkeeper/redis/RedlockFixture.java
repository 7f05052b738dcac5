// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.redis;

import io.lockkeeper.spi.LockStore;
import io.lockkeeper.spi.StoreUrl;
import io.lockkeeper.tck.StoreFixture;
import io.lockkeeper.testservers.LocalServer;
import io.lockkeeper.testservers.RedisServer;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/** A quorum under test, by its URL. It is patient with its members, for busy machines. */
final class RedlockFixture implements StoreFixture {
    private final List<RedisServer> servers;
    private final String url;

    RedlockFixture(List<RedisServer> servers) {
        this.servers = servers;
        this.url = url(servers) + "?operationTimeout=5s&memberTimeout=500ms&longestLease=25h";
    }

    static String url(List<? extends LocalServer> servers) {
        return servers.stream().map(LocalServer::address).collect(Collectors.joining(",", "redlock://", ""));
    }

    @Override
    public LockStore connect() {
        return new RedlockProvider().open(StoreUrl.parse(url));
    }

    @Override
    public Optional<String> url() {
        return Optional.of(url);
    }

    /** All keys but the token floors, the stores' ids and the quorum's markers. */
    @Override
    public long size() {
        return servers.stream()
                .flatMap(server -> new Admin(server).keys().stream())
                .filter(key -> !key.endsWith("}:l:lockkeeper-quorum"))
                .count();
    }

    @Override
    public void close() {
        servers.forEach(RedisServer::close);
    }
}
