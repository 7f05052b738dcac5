// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import io.lockkeeper.spi.LockStore;
import io.lockkeeper.tck.StoreFixture;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;

/** A file under test. */
final class FileFixture implements StoreFixture {
    private final Path path;
    private final SqlStore own;

    FileFixture(Path path) {
        this.path = path;
        this.own = open();
    }

    private SqlStore open() {
        return FileProvider.open(path, Duration.ofSeconds(5), false);
    }

    @Override
    public LockStore connect() {
        return open();
    }

    @Override
    public Optional<String> url() {
        return Optional.of("file:" + path);
    }

    @Override
    public long size() {
        own.purge(Duration.ZERO);
        return own.size();
    }

    @Override
    public boolean letsOthersIn() {
        return Db.isWritable("jdbc:sqlite:" + path);
    }

    @Override
    public void close() {
        own.close();
    }
}
