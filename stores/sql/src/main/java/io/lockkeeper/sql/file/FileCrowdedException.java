// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql.file;

import java.nio.file.Path;
import java.sql.SQLTransientException;
import java.time.Duration;

/**
 * Others were writing to the file all the time. Nothing was done: the file is intact, and those that retry get a turn.
 */
public final class FileCrowdedException extends SQLTransientException {
    private static final long serialVersionUID = 1L;

    FileCrowdedException(Path path, long nanos) {
        super(
                "other processes have been writing to " + path + " in turn for "
                        + Duration.ofNanos(nanos).toMillis() + " ms",
                "HYT01");
    }
}
