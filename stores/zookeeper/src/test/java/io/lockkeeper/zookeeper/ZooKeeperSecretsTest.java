// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.testservers.SecretSearch;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * No secret of a {@code zookeeper:} URL is shown, whatever is wrong with it: in no exception, no text of an object, and nothing that
 * we, Curator or ZooKeeper's client log at any level.
 */
class ZooKeeperSecretsTest { // H78
    private static List<String> urls() {
        List<String> urls = new ArrayList<>();
        String parameters = "?operationTimeout=200ms&connectTimeout=200ms";
        for (String rest : List.of(
                "//user:hunter2@127.0.0.1:1", // nothing listens there
                "//user:hunter%32@127.0.0.1:1/chroot",
                "//user:%68unter2@127.0.0.1:1",
                "//:hunter2@127.0.0.1:1",
                "//hunter2@127.0.0.1:1",
                "//user:hunter2@",
                "//user:hunter2@/chroot",
                "//user:hunter2@127.0.0.1:port",
                "//127.0.0.1:hunter2",
                "//user:hunter2@127.0.0.1:999999",
                "//user:hunter2@127.0.0.1:1/../x",
                "//user:hunter2@127.0.0.1:1/a b",
                "//user:hunter2@ho st",
                "//user:hunter2@[::1:1",
                "//user:hunter2@a,,b",
                "//a,user:hunter2@b:x",
                "//user:hunter2%@127.0.0.1:1",
                "//user:hunter2%zz@127.0.0.1:1",
                "//user:x/hunter2@127.0.0.1:port",
                "//user:x@hunter2@127.0.0.1:port",
                "//user:x?hunter2@127.0.0.1:1",
                "//user:x?hunter2=@127.0.0.1:1",
                "user:hunter2@127.0.0.1:1",
                "/user:hunter2@127.0.0.1:1")) {
            urls.add("zookeeper:" + rest + parameters);
        }
        for (String more : List.of(
                "&password=hunter2",
                "&session=1ms",
                "&session=hm",
                "&prefix=zookeeper",
                "&acl=nobody",
                "&acl=world&acl=creator",
                "&sessoin=1s",
                "&x")) {
            urls.add("zookeeper://user:hunter2@127.0.0.1:1" + parameters + more);
        }
        return urls;
    }

    @Test
    void noSecretIsShown() {
        List<String> urls = urls();
        assertThat(urls).hasSizeGreaterThanOrEqualTo(30);
        List<String> found = new ArrayList<>();
        long logged = 0;
        for (String url : urls) {
            try (SecretSearch search = new SecretSearch("hunter2", "hunter%32", "%68unter2")) {
                assertThat(search.connect(url)).as(url).isNotNull();
                search.found().forEach(each -> found.add(url + "\n  " + each));
                logged += search.logged("org.apache.curator");
            }
        }
        assertThat(found).isEmpty();
        assertThat(logged).as("records of Curator that were searched").isPositive();
    }
}
