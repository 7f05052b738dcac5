// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.benchmarks;

import io.lockkeeper.benchmarks.race.Suite;
import io.lockkeeper.benchmarks.redis.RedisSuite;
import io.lockkeeper.benchmarks.sql.SqlSuite;
import io.lockkeeper.benchmarks.zookeeper.ZooKeeperSuite;
import java.util.List;

/** The suites that {@code ./bench} knows by name. */
public final class Suites {
    private static final List<Suite> ALL = List.of(new SqlSuite(), new RedisSuite(), new ZooKeeperSuite());

    private Suites() {}

    /** The suite of this name. */
    public static Suite named(String name) {
        return ALL.stream()
                .filter(s -> s.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("no suite '" + name + "'; there are "
                        + ALL.stream().map(Suite::name).toList()));
    }
}
