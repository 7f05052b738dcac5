// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import io.lockkeeper.spi.LockStore;
import io.lockkeeper.spi.StoreProvider;
import io.lockkeeper.spi.StoreUrl;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Set;

/** Makes stores from {@code file:PATH} URLs: a SQLite file for all processes of one host, with nothing to set up. */
public final class FileProvider implements StoreProvider {
    /** For {@link java.util.ServiceLoader}. */
    public FileProvider() {}

    @Override
    public Set<String> schemes() {
        return Set.of("file");
    }

    @Override
    public LockStore open(StoreUrl url) {
        url.allowOnly(Set.of("operationTimeout", "connectTimeout", "patience", "durability"));
        Duration timeout = url.duration("operationTimeout").orElse(Duration.ofSeconds(1));
        String durability = url.parameter("durability").orElse("full");
        if (!Set.of("full", "relaxed").contains(durability)) {
            throw new IllegalArgumentException("durability is '" + durability + "'; allowed are full and relaxed");
        }
        return open(path(url.rest()), timeout, durability.equals("full"));
    }

    static SqlStore open(Path path, Duration timeout, boolean full) {
        try {
            return FileSetup.open(path, timeout, full);
        } catch (NoClassDefFoundError e) {
            throw new IllegalArgumentException(
                    "the driver for file: URLs is not on the path; add org.xerial:sqlite-jdbc", e);
        }
    }

    /** {@code PATH}, {@code //PATH} with an absolute path, and {@code ~/PATH} for the user's home. */
    static Path path(String rest) {
        String text = rest.startsWith("///") ? rest.substring(2) : rest;
        if (text.isEmpty() || text.startsWith("//")) {
            throw new IllegalArgumentException("a file: URL has the form file:PATH, as in file:/var/lib/app/locks.db");
        }
        if (text.startsWith("~/")) {
            text = System.getProperty("user.home") + text.substring(1);
        }
        try {
            return Path.of(text).toAbsolutePath().normalize();
        } catch (InvalidPathException e) {
            throw new IllegalArgumentException("'" + text + "' is no path: " + e.getReason(), e);
        }
    }
}
