// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.cli;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Unpacks SQLite's library, once at build time: the driver would do it again at each start. Where it runs from there, the
 * launcher says with {@code org.sqlite.lib.path}; a folder without the library is passed over.
 */
final class Native {
    private Native() {}

    /** Unpacks it into the folder. */
    public static void main(String[] args) throws IOException, ReflectiveOperationException {
        // Not a class that we compile against: any store may do without SQLite.
        Class<?> platform = Class.forName("org.sqlite.util.OSInfo");
        Object folder = platform.getMethod("getNativeLibFolderPathForCurrentOS").invoke(null);
        String file = System.mapLibraryName("sqlitejdbc");
        try (InputStream in = platform.getResourceAsStream("/org/sqlite/native/" + folder + "/" + file)) {
            if (in == null) {
                throw new IOException("no library for " + folder);
            }
            Path target = Files.createDirectories(Path.of(args[0])).resolve(file);
            Files.copy(in, target);
        }
    }
}
