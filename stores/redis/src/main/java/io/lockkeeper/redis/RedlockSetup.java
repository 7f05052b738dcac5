// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.redis;

import io.lockkeeper.quorum.QuorumOptions;
import io.lockkeeper.quorum.QuorumStore;
import io.lockkeeper.redis.server.JedisVersion;
import io.lockkeeper.spi.LockStore;
import io.lockkeeper.spi.StoreUrl;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;

/**
 * What {@link RedlockProvider} does with Jedis: in a separate class, so that the provider can be loaded where there is
 * none.
 */
final class RedlockSetup {
    private RedlockSetup() {}

    static LockStore open(StoreUrl url) {
        List<RedisUrl> members = members(url);
        JedisVersion.check();
        List<Supplier<LockStore>> openers = new ArrayList<>();
        for (RedisUrl member : members) {
            openers.add(() -> RedisSetup.member(member));
        }
        return QuorumStore.opening(
                openers, RedisStore.GUARANTEES, QuorumOptions.of(url), members.get(0).connectTimeout);
    }

    /** The URL of each member: what follows the last host applies to all members. */
    static List<RedisUrl> members(StoreUrl url) {
        Set<String> known = RedisUrl.known(url.scheme());
        known.addAll(QuorumOptions.PARAMETERS);
        url.allowOnly(known);
        // No caller waits for a member longer than that, so the member has no reason to go on for longer.
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
