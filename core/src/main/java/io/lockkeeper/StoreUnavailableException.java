// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper;

import org.jspecify.annotations.Nullable;

/**
 * The store could not be asked, or would not answer: unreachable, too slow, read-only, full, wrongly configured. It
 * never means that a lock is taken. A step that failed with it may or may not have been carried out; the keeper
 * resolves that behind the scenes, never by guessing.
 */
public final class StoreUnavailableException extends LockkeeperException {
    private static final long serialVersionUID = 1L;

    private final boolean worthRepeating;

    /** A failure that may pass: the same step may succeed when it is repeated. */
    public StoreUnavailableException(String message, @Nullable Throwable cause) {
        this(message, cause, true);
    }

    private StoreUnavailableException(String message, @Nullable Throwable cause, boolean worthRepeating) {
        super(message, cause);
        this.worthRepeating = worthRepeating;
    }

    /** A failure that repeating cannot cure, such as a refused password: thrown to the caller at once. */
    public static StoreUnavailableException lasting(String message, @Nullable Throwable cause) {
        return new StoreUnavailableException(message, cause, false);
    }

    /** The same failure, said of what it prevented. */
    public StoreUnavailableException because(String what) {
        return new StoreUnavailableException(what + ": " + getMessage(), this, worthRepeating);
    }

    /** Whether repeating the step may help; false for authentication and configuration errors. */
    public boolean worthRepeating() {
        return worthRepeating;
    }
}
