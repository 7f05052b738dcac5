// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testservers;

import org.jspecify.annotations.Nullable;

/** A server's binaries are not on this machine and could not be fetched. Whether that skips or fails a test: {@link Servers}. */
public final class MissingServerException extends RuntimeException {
    MissingServerException(String message) {
        this(message, null);
    }

    MissingServerException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
