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
            "Print the SQL statements that make the tables of a store, for those who make them themselves",
            "(lockkeeper.createTables=false in the URL). Nothing is connected to."
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
                    "postgresql, mariadb, mysql, sqlite or h2, instead of a store. With --store, whose names the tables"
                            + " get, it has to be that store's.")
    private @Nullable String dialect;

    @Option(names = "--json", description = "For programs: an array of statements.")
    private boolean json;

    @Override
    public Integer call() {
        StoreUrl url = url();
        List<String> statements = statements(url);
        if (json) {
            Terminal.OUT.println(Json.text(statements));
        } else if (statements.isEmpty()) {
            Terminal.ERR.println("a " + url.scheme() + ": store has no tables");
        }
        for (String statement : json ? List.<String>of() : statements) {
            Terminal.OUT.println(statement + ";\n");
        }
        return Exit.OK;
    }

    private StoreUrl url() {
        if (dialect == null) {
            return StoreUrl.parse(store.url());
        }
        if (!store.isGiven()) {
            return StoreUrl.parse("jdbc:" + dialect + ":");
        }
        StoreUrl url = StoreUrl.parse(store.url());
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
                Exit.USAGE, "unknown scheme '" + url.scheme() + "'; tables have the stores of jdbc: and file: URLs");
    }
}
