// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.lockkeeper.Lockkeeper;
import io.lockkeeper.spi.StoreUrl;
import io.lockkeeper.testservers.SecretSearch;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.HostAndPort;

/** {@code redlock:} URLs. */
class RedlockUrlTest {
    private static List<RedisUrl> members(String url) {
        return RedlockSetup.members(StoreUrl.parse(url));
    }

    @Test
    void eachHostIsASeparateServer() {
        List<RedisUrl> members =
                members("redlock://a,b:7000,[::1]:7001/3?prefix=p&operationTimeout=2s&longestLease=90s");
        assertThat(members.stream().map(member -> member.hosts.get(0)))
                .containsExactly(new HostAndPort("a", 6379), new HostAndPort("b", 7000), new HostAndPort("::1", 7001));
        assertThat(members).allMatch(member -> member.database == 3 && member.hosts.size() == 1);
        assertThat(members)
                .as("a member has a quarter of the time")
                .allMatch(member -> member.operationTimeout.equals(Duration.ofMillis(500)));
        assertThat(members("redlock://a,b,c?operationTimeout=2s&memberTimeout=100ms"))
                .allMatch(member -> member.operationTimeout.equals(Duration.ofMillis(100)));
    }

    @Test
    void theFirstHostsLoginAppliesToHostsWithoutOne() {
        List<RedisUrl> members = members("redlock://u:s%2C1@a,b,v:t@c:7000");
        assertThat(members.stream().map(member -> member.user + " " + member.secret))
                .containsExactly("u s,1", "u s,1", "v t");
        assertThat(members("redlock://a,:secret@b,c").stream().map(member -> String.valueOf(member.secret)))
                .containsExactly("null", "secret", "null");
    }

    @Test
    void anUnknownParameterIsRejectedWithTheKnownOnes() {
        assertThatThrownBy(() -> Lockkeeper.connect("redlock://a,b,c?longestLaese=60s"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("longestLaese")
                .hasMessageContaining("[allowEviction, clockLead, connectTimeout, longestLease, memberTimeout,"
                        + " operationTimeout, patience, poolSize, prefix, replicas]");
    }

    @Test
    void tooFewTooManyOrDuplicateHostsAreRejected() {
        assertThatThrownBy(() -> Lockkeeper.connect("redlock://a,b"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("3 to 7");
        assertThatThrownBy(() -> Lockkeeper.connect("redlock://a,b,c,d,e,f,g,h"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("3 to 7");
        assertThatThrownBy(() -> Lockkeeper.connect("redlock://a,b,A:6379"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("hosts 1 and 3");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "redlock://u:hunter2@a,,c",
                "redlock://u:hunter2@a,b:x,c",
                "redlock://u:hunter2@a,b,c/x",
                "redlock://u:hunter2@a,b/1,c/2",
                "redlock://u:hunter2@a,b,c#m",
                "redlock://u:hunter2@a,b,c?memberTimeout=1h",
                "redlock://u:hunter2@a,b,c?longestLease=1500ms",
                "redlock://u:hunter2%zz@a,b,c",
                "redlock://u:hunter2,b,c/4@a",
                "redlock:u:hunter2@a,b,c",
                "redlock://u:hunter2@a,b,c?prefix={}"
            })
    void whatIsWrongIsSaidWithoutTheSecret(String url) {
        Throwable failure = catchThrowable(() -> Lockkeeper.connect(url).close());
        assertThat(failure).isInstanceOf(IllegalArgumentException.class);
        assertThat(SecretSearch.text(failure)).doesNotContain("hunter2");
    }
}
