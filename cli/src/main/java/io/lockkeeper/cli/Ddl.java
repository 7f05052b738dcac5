// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.cli;

import io.lockkeeper.spi.StoreProvider;
import io.lockkeeper.spi.StoreUrl;
import java.util.List;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code lockkeeper ddl}. */
@Command(
        name = "ddl",
        description = {
            "Print the SQL statements that create the tables of a store, if you create them yourself",
            "(lockkeeper.createTables=false in the URL). It does not connect to the store."
        },
        footer = {
            "",
            "Examples:",
            "  lockkeeper ddl --dialect postgresql | psql",
            "  lockkeeper ddl --store 'jdbc:mariadb://db/app?lockkeeper.tablePrefix=app_'   as this store names them"
        })
final class Ddl implements Callable<Integer> {
    @Mixin
    private Store store = new Store();

    @Option(
            names = "--dialect",
            paramLabel = "DATABASE",
            description =
                    "postgresql, mariadb, mysql, sqlite or h2, instead of a store. With --store, which names the tables,"
                            + " it must be the database of that store.")
    private @Nullable String dialect;

    @Option(names = "--json", description = "For programs: an array of statements.")
    private boolean json;

    @Override
    public Integer call() {
        StoreUrl url = url();
        List<String> statements = statements(url);
        if (statements.isEmpty()) {
            throw new Failure(
                    Exit.USAGE,
                    "a " + url.scheme() + ": store has no tables; only stores with jdbc: or file: URLs have");
        }
        if (json) {
            Terminal.OUT.println(Json.text(statements));
        }
        for (String statement : json ? List.<String>of() : statements) {
            Terminal.OUT.println(statement + ";\n");
        }
        return Exit.OK;
    }

    private StoreUrl url() {
        if (dialect == null) {
            return store.parsed();
        }
        if (!store.isGiven()) {
            return StoreUrl.parse("jdbc:" + dialect + ":");
        }
        StoreUrl url = store.parsed();
        String database = url.scheme().equals("file") ? "sqlite" : url.rest().split(":", 2)[0];
        if (!dialect.equalsIgnoreCase(database) || !Set.of("jdbc", "file").contains(url.scheme())) {
            throw new Failure(
                    Exit.USAGE,
                    "--dialect is " + dialect + ", and the store is " + url.scheme() + ":"
                            + (url.scheme().equals("jdbc") ? StoreUrl.shown(database) + ":" : "")
                            + "; leave out one of them");
        }
        return url;
    }

    private static List<String> statements(StoreUrl url) {
        for (StoreProvider provider : ServiceLoader.load(StoreProvider.class)) {
            if (provider.schemes().contains(url.scheme())) {
                return provider.ddl(url);
            }
        }
        throw new Failure(
                Exit.USAGE, "unknown scheme '" + url.scheme() + "'; only stores with jdbc: or file: URLs have tables");
    }
}
