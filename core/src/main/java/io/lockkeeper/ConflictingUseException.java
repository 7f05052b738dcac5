// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper;

/** The name is in use in another way: as a lock and not as a semaphore, or with another number of permits. */
public final class ConflictingUseException extends LockkeeperException {
    private static final long serialVersionUID = 1L;

    /** Says how the name is used. */
    public ConflictingUseException(String message) {
        super(message);
    }
}
