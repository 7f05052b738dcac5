// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.redis;

import io.lockkeeper.spi.LockStore;
import io.lockkeeper.spi.StoreProvider;
import io.lockkeeper.spi.StoreUrl;
import java.util.Set;

/**
 * Quorums of {@code redlock:} URLs, and of {@code redlocks:} ones with TLS: each host is an independent Redis.
 *
 * <p>A login before the first host applies to all hosts without a login. The members are connected to
 * when they are first needed, independently, so that a quorum starts even while some of them are down.
 */
public final class RedlockProvider implements StoreProvider {
    /** For {@link java.util.ServiceLoader}. */
    public RedlockProvider() {}

    @Override
    public Set<String> schemes() {
        return Set.of("redlock", "redlocks");
    }

    @Override
    public LockStore open(StoreUrl url) {
        try {
            return RedlockSetup.open(url);
        } catch (NoClassDefFoundError e) {
            throw RedisProvider.noJedis(url, e);
        }
    }
}
