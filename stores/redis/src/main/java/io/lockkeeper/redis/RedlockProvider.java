// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.redis;

import io.lockkeeper.quorum.QuorumOptions;
import io.lockkeeper.quorum.QuorumStore;
import io.lockkeeper.spi.LockStore;
import io.lockkeeper.spi.StoreProvider;
import io.lockkeeper.spi.StoreUrl;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;

/**
 * Quorums of {@code redlock:} URLs, and of {@code redlocks:} ones with TLS: each host is a Redis of its own.
 *
 * <p>A login before the first host is that of all hosts that have none of their own. The members are connected to when they are
 * first needed, each by itself, so that a quorum begins also while some of them are down.
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
        List<RedisUrl> members = members(url);
        boolean tls = url.scheme().equals("redlocks");
        List<Supplier<LockStore>> openers = new ArrayList<>();
        for (RedisUrl member : members) {
            openers.add(() -> RedisProvider.member(member, tls));
        }
        return QuorumStore.opening(openers, RedisStore.GUARANTEES, QuorumOptions.of(url));
    }

    /** The URL of each member: what all have in common is what stands behind the last host. */
    static List<RedisUrl> members(StoreUrl url) {
        Set<String> known = new HashSet<>(RedisUrl.KNOWN);
        known.addAll(QuorumOptions.PARAMETERS);
        url.allowOnly(known);
        // A member is not waited for longer than that, and so has no reason to go on for longer.
        StoreUrl each = url.with("operationTimeout", QuorumOptions.of(url).memberTimeout());
        String all = RedisUrl.authority(url);
        int slash = all.indexOf('/', all.lastIndexOf('@') + 1);
        String path = slash < 0 ? "" : all.substring(slash);
        String[] hosts = (slash < 0 ? all : all.substring(0, slash)).split(",", -1);
        String login = hosts[0].substring(0, hosts[0].lastIndexOf('@') + 1);
        List<RedisUrl> members = new ArrayList<>();
        for (String host : hosts) {
            RedisUrl member = new RedisUrl(each, known, (host.contains("@") ? host : login + host) + path);
            for (RedisUrl earlier : members) {
                if (earlier.hosts.equals(member.hosts)) {
                    // Not shown: with a secret that has a comma in it, what stands here may be a piece of the secret.
                    throw new IllegalArgumentException("hosts " + (members.indexOf(earlier) + 1) + " and "
                            + (members.size() + 1) + " are the same; members of a quorum must be independent");
                }
            }
            members.add(member);
        }
        return members;
    }
}
