// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.testservers.SecretSearch;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * No secret of a URL of Redis is shown, whatever is wrong with it: in no exception, no text of an object, and nothing that we or Jedis
 * log at any level.
 */
class RedisSecretsTest { // H78
    /** Nothing listens there. */
    private static final String HOST = "127.0.0.1:1";

    private static final String SHORT = "operationTimeout=200ms&connectTimeout=200ms";

    private static List<String> urls(String scheme, String hosts, String end) {
        List<String> urls = new ArrayList<>();
        for (String login : List.of(
                "user:hunter2@",
                ":hunter2@",
                "hunter2@",
                "user:hunter%32@",
                "user:%68unter2@",
                "user:hunter2%@",
                "user:hunter2%zz@",
                "user:x/hunter2@",
                "user:x#hunter2@",
                "user:x?hunter2@",
                "user:x?hunter2=@",
                "user:x@hunter2@",
                "user:hunter2:hunter2@")) {
            urls.add(scheme + "://" + login + hosts + end + "?" + SHORT);
        }
        for (String rest : List.of(
                "//user:hunter2@",
                "//user:hunter2@/0",
                "//user:hunter2@127.0.0.1:port",
                "//127.0.0.1:hunter2",
                "//user:hunter2@127.0.0.1:99999",
                "//user:hunter2@[::1:1",
                "//user:hunter2@" + hosts + "/database",
                "user:hunter2@" + hosts,
                "/user:hunter2@" + hosts)) {
            urls.add(scheme + ":" + rest + end);
        }
        for (String parameters : List.of(
                "password=hunter2",
                "sentinelPassword=hunter2",
                "sentinelPassword=hunter%32",
                "sentinelUser=me&sentinelPassword=hunter2&sentinelPassword=hunter2",
                "trustStore=/none&trustStorePassword=hunter2",
                "keyStore=/none&keyStorePassword=hunter2",
                "keyStorePassword=hunter2",
                "nosuch=hunter2",
                "patience=soon",
                "poolSize=0",
                "x")) {
            urls.add(scheme + "://user:hunter2@" + hosts + end + "?" + SHORT + "&" + parameters);
        }
        return urls;
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "redis",
                "rediss",
                "redis-sentinel",
                "rediss-sentinel",
                "redis-cluster",
                "rediss-cluster",
                "redlock",
                "redlocks"
            })
    void noneIsShown(String scheme) {
        String hosts = scheme.startsWith("redlock") ? HOST + ",127.0.0.1:2,127.0.0.1:3" : HOST;
        List<String> urls = urls(scheme, hosts, scheme.endsWith("sentinel") ? "#m" : "");
        assertThat(urls).hasSizeGreaterThanOrEqualTo(30);
        List<String> found = new ArrayList<>();
        for (String url : urls) {
            try (SecretSearch search = new SecretSearch("hunter2", "hunter%32", "%68unter2")) {
                assertThat(search.connect(url)).as(url).isNotNull();
                search.found().forEach(each -> found.add(url + "\n  " + each));
            }
        }
        assertThat(found).isEmpty();
    }
}
