// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testservers;

import java.util.List;

/** The servers that {@link Binaries} can find, and where to look for each. */
public enum ServerKind {
    /** Needs {@code redis-server}. */
    REDIS("LOCKKEEPER_REDIS", "redis-server", "redis-server"),
    /** Needs {@code postgres} and {@code initdb}, of the same version. */
    POSTGRES("LOCKKEEPER_POSTGRES_BIN", "postgres initdb", "postgresql"),
    /** Needs {@code mariadbd}, {@code mariadb-install-db} and what the latter calls. */
    MARIADB(
            "LOCKKEEPER_MARIADB_BIN",
            "mariadbd mariadb-install-db my_print_defaults",
            "mariadb-server-core mariadb-client-core"),
    /** Needs {@code pgbouncer}. */
    PGBOUNCER("LOCKKEEPER_PGBOUNCER", "pgbouncer", "pgbouncer"),
    /** Needs {@code etcd}. */
    ETCD("LOCKKEEPER_ETCD", "etcd", "etcd-server"),
    /** Needs {@code java}; the server itself comes as jars. */
    ZOOKEEPER("LOCKKEEPER_JAVA", "java", "openjdk-17-jre-headless");

    private final String variable;
    private final String executables;
    private final String packages;

    ServerKind(String variable, String executables, String packages) {
        this.variable = variable;
        this.executables = executables;
        this.packages = packages;
    }

    /** The environment variable that names the server's executable or its folder; if it is set, no other place is tried. */
    public String variable() {
        return variable;
    }

    /** The executables that a place must have, the server itself first. */
    List<String> executables() {
        return List.of(executables.split(" "));
    }

    /** The Debian packages that bring the executables. */
    List<String> packages() {
        return List.of(packages.split(" "));
    }
}
