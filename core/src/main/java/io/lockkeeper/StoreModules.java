// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper;

import java.util.Collection;
import java.util.Map;
import java.util.TreeSet;

/** Why there is no store for a scheme, and what to do: only modules that exist are named. */
final class StoreModules {
    private record Module(String artifact, String provider) {}

    private static final Module SQL = new Module("lockkeeper-sql", "io.lockkeeper.sql.SqlProvider");
    private static final Module REDIS = new Module("lockkeeper-redis", "io.lockkeeper.redis.RedisProvider");
    private static final Module ZOOKEEPER =
            new Module("lockkeeper-zookeeper", "io.lockkeeper.zookeeper.ZooKeeperProvider");

    private static final Map<String, Module> BY_SCHEME = Map.ofEntries(
            Map.entry("jdbc", SQL),
            Map.entry("file", SQL),
            Map.entry("redis", REDIS),
            Map.entry("rediss", REDIS),
            Map.entry("redis-sentinel", REDIS),
            Map.entry("rediss-sentinel", REDIS),
            Map.entry("redis-cluster", REDIS),
            Map.entry("rediss-cluster", REDIS),
            Map.entry("redlock", REDIS),
            Map.entry("redlocks", REDIS),
            Map.entry("zookeeper", ZOOKEEPER));

    private StoreModules() {}

    /**
     * The exception for a scheme that no provider knows.
     *
     * @param known the schemes of the providers that were found
     */
    static IllegalArgumentException missing(String scheme, Collection<String> known) {
        Module module = BY_SCHEME.get(scheme);
        return new IllegalArgumentException(LockkeeperException.printable(
                module == null
                        ? "unknown scheme '" + scheme + "'; known here are " + new TreeSet<>(known)
                        : isThere(module)
                                ? module.artifact + " is on the path, but not its file"
                                        + " META-INF/services/io.lockkeeper.spi.StoreProvider: merge service files when you"
                                        + " build one jar of many"
                                : "no store for '" + scheme + ":' is on the path; add the module io.lockkeeper:"
                                        + module.artifact));
    }

    private static boolean isThere(Module module) {
        return StoreModules.class.getClassLoader() != null
                && StoreModules.class.getClassLoader().getResource(module.provider.replace('.', '/') + ".class")
                        != null;
    }
}
