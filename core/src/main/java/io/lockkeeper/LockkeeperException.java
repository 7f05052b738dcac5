// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper;

import org.jspecify.annotations.Nullable;

/** The root of what Lockkeeper throws when something failed. That a lock is taken is no failure but a value. */
public class LockkeeperException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** Says what failed. */
    public LockkeeperException(String message) {
        super(message);
    }

    /** Says what failed, and why. */
    public LockkeeperException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
