// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql.file;

import java.io.IOException;
import java.nio.file.Path;
import java.sql.SQLException;

/**
 * The name by which a file of locks was opened. If a symbolic link in it is switched while the file is in use, as by a deployment,
 * processes that open it from then on lock in another file. This notices that, about once a second: everything held is lost, and no
 * step is made any more.
 */
final class FileLink {
    private static final long LOOK_NANOS = 1_000_000_000;

    private final Path given;
    private final Path real;
    private final boolean isPlain;
    private volatile long lookedAt = System.nanoTime();
    private volatile boolean elsewhere;

    FileLink(Path given, Path real) {
        this.given = given;
        this.real = real;
        this.isPlain = given.equals(real);
    }

    /** Looks, if it is time; answers true once, when the name leads to another file than before. */
    synchronized boolean leadsElsewhere() {
        long now = System.nanoTime();
        if (isPlain || elsewhere || now - lookedAt < LOOK_NANOS) {
            return false;
        }
        lookedAt = now;
        try {
            elsewhere = !FileSetup.target(given).equals(real);
        } catch (IOException e) {
            elsewhere = false; // it leads nowhere, so that nobody locks elsewhere
        }
        return elsewhere;
    }

    /** Lets no step be made in a file that others no longer use. */
    void check() throws SQLException {
        if (elsewhere) {
            throw new SQLException(
                    given + " leads to another file than " + real
                            + ", which was opened by that name: a link was switched"
                            + " while locks were in use. They are lost; open the store again",
                    "3D000");
        }
    }
}
