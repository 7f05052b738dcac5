// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import io.lockkeeper.spi.LockStore;
import io.lockkeeper.tck.StoreFixture;
import java.time.Duration;
import java.util.Optional;

/** A database under test, by its URL. */
final class SqlFixture implements StoreFixture {
    private final String url;
    private final AutoCloseable server;
    private final SqlStore own;

    SqlFixture(String url, AutoCloseable server) {
        this.url = url;
        this.server = server;
        this.own = open();
    }

    private SqlStore open() {
        return Db.open(url);
    }

    @Override
    public LockStore connect() {
        return open();
    }

    @Override
    public Optional<String> url() {
        return Optional.of(Db.with(url, "operationTimeout=5s"));
    }

    @Override
    public long size() {
        own.purge(Duration.ZERO);
        return own.size();
    }

    @Override
    public boolean letsOthersIn() {
        return !url.startsWith("jdbc:sqlite:") || Db.letsOthersIn(url);
    }

    @Override
    public void close() {
        own.close();
        try {
            server.close();
        } catch (Exception e) {
            throw new IllegalStateException("the server did not end", e);
        }
    }
}
