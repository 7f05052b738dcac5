// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import io.lockkeeper.spi.LockStore;
import io.lockkeeper.spi.StoreProvider;
import io.lockkeeper.spi.StoreUrl;
import java.time.Duration;
import java.util.List;
import java.util.Set;

/**
 * Makes SQL stores from {@code jdbc:} URLs, each with its own small pool. Parameters that begin with {@code lockkeeper.} are
 * ours, {@code operationTimeout} and {@code patience} the keeper's; all others go to the driver, unless they are nearly one of
 * ours.
 */
public final class SqlProvider implements StoreProvider {
    private static final String OURS = "lockkeeper.";

    /** For {@link java.util.ServiceLoader}. */
    public SqlProvider() {}

    @Override
    public Set<String> schemes() {
        return Set.of("jdbc");
    }

    @Override
    public LockStore open(StoreUrl url) {
        Drivers.check(JdbcUrl.database(url));
        return Pool.open(JdbcUrl.of(url), options(url), null);
    }

    /** By the database that the URL names, as in {@code jdbc:postgresql:}. */
    @Override
    public List<String> ddl(StoreUrl url) {
        JdbcUrl.of(url); // rejects what is misspelt
        return SqlStore.ddl(JdbcUrl.database(url), options(url));
    }

    private static SqlOptions options(StoreUrl url) {
        SqlOptions options = SqlOptions.defaults()
                .operationTimeout(url.duration("operationTimeout").orElse(Duration.ofSeconds(1)));
        if (url.parameter(OURS + "tablePrefix").isPresent()) {
            options = options.tablePrefix(url.parameter(OURS + "tablePrefix").get());
        }
        if (url.parameter(OURS + "schema").isPresent()) {
            options = options.schema(url.parameter(OURS + "schema").get());
        }
        return options.createTables(choice(url, "createTables", "true", "false"))
                .relaxed(!choice(url, "durability", "full", "relaxed"));
    }

    /** Whether a parameter has the first of two values, which is the built-in one. */
    private static boolean choice(StoreUrl url, String name, String first, String second) {
        String value = url.parameter(OURS + name).orElse(first);
        if (!value.equals(first) && !value.equals(second)) {
            throw new IllegalArgumentException(
                    "parameter '" + OURS + name + "' is '" + value + "'; allowed is " + first + " or " + second);
        }
        return value.equals(first);
    }
}
