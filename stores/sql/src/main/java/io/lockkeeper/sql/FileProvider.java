// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import io.lockkeeper.spi.LockStore;
import io.lockkeeper.spi.StoreProvider;
import io.lockkeeper.spi.StoreUrl;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
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
        url.allowOnly(Set.of("operationTimeout", "connectTimeout", "patience", "durability", "owner"));
        Duration timeout = url.duration("operationTimeout").orElse(Duration.ofSeconds(1));
        String durability = url.parameter("durability").orElse("full");
        if (!Set.of("full", "relaxed").contains(durability)) {
            throw new IllegalArgumentException("durability is '" + durability + "'; allowed are full and relaxed");
        }
        return open(
                path(url.rest()),
                timeout,
                durability.equals("full"),
                url.parameter("owner").orElse(""));
    }

    @Override
    public List<String> ddl(StoreUrl url) {
        return SqlStore.ddl("SQLite", SqlOptions.defaults());
    }

    static SqlStore open(Path path, Duration timeout, boolean full) {
        return open(path, timeout, full, "");
    }

    private static SqlStore open(Path path, Duration timeout, boolean full, String owner) {
        try {
            return FileStores.open(path, timeout, full, owner);
        } catch (NoClassDefFoundError e) {
            throw new IllegalArgumentException(
                    "the driver for file: URLs is not on the path; add org.xerial:sqlite-jdbc", e);
        }
    }

    /**
     * {@code PATH}, {@code //PATH} with an absolute path, and {@code ~/PATH} for the user's home. As in every URL, {@code %20} is a
     * blank and {@code %25} a percent sign, so that all spellings of a path that Java knows lead to the same file.
     */
    static Path path(String rest) {
        String text = rest.startsWith("///") ? rest.substring(2) : rest;
        if (text.isEmpty() || text.startsWith("//")) {
            throw new IllegalArgumentException("a file: URL has the form file:PATH, as in file:/var/lib/app/locks.db");
        }
        String decoded = decode(text);
        Path path = absolute(decoded);
        if (!decoded.equals(text) && Files.exists(absolute(text))) {
            throw new IllegalArgumentException(
                    "'" + text + "' means the file " + path + ", as %XX is a character's code in a"
                            + " URL; but there is a file of just that name. If you mean that one, write %25 for each % in it");
        }
        return path;
    }

    private static String decode(String text) {
        try {
            return URLDecoder.decode(text.replace("+", "%2B"), StandardCharsets.UTF_8);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(
                    "'" + text
                            + "' has a % that is not followed by two hexadecimal digits; write %25 for the sign itself",
                    e);
        }
    }

    private static Path absolute(String text) {
        try {
            Path path = text.startsWith("~/") ? Path.of(home(), text.substring(2)) : Path.of(text);
            return path.toAbsolutePath().normalize();
        } catch (InvalidPathException e) {
            throw new IllegalArgumentException("'" + text + "' is not a path: " + e.getReason(), e);
        }
    }

    /** Where the command line, too, takes it from. */
    private static String home() {
        String home = System.getenv("HOME");
        return home != null && home.startsWith("/") ? home : System.getProperty("user.home");
    }
}
