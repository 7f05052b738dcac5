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
    private final boolean concernsOneName;

    /** A failure that may pass: the same step may succeed when it is repeated. */
    public StoreUnavailableException(String message, @Nullable Throwable cause) {
        this(message, cause, true, false);
    }

    private StoreUnavailableException(
            String message, @Nullable Throwable cause, boolean worthRepeating, boolean concernsOneName) {
        super(message, cause);
        this.worthRepeating = worthRepeating;
        this.concernsOneName = concernsOneName;
    }

    /** A failure that repeating cannot cure, such as a refused password: thrown to the caller at once. */
    public static StoreUnavailableException lasting(String message, @Nullable Throwable cause) {
        return new StoreUnavailableException(message, cause, false, false);
    }

    /** A failure that may pass, of a step about several names, whose cause may lie in one of them. */
    public static StoreUnavailableException ofOneName(String message, @Nullable Throwable cause) {
        return new StoreUnavailableException(message, cause, true, true);
    }

    /** The same failure, said of what it prevented. */
    public StoreUnavailableException because(String what) {
        return new StoreUnavailableException(what + ": " + getMessage(), this, worthRepeating, concernsOneName);
    }

    /** Whether repeating the step may help; false for authentication and configuration errors. */
    public boolean worthRepeating() {
        return worthRepeating;
    }

    /** Whether the cause may lie in one of the names that the step was about, so that it may succeed for the others. */
    public boolean concernsOneName() {
        return concernsOneName;
    }
}
