// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper;

/**
 * The wait could never end: a thread that holds a name by {@code lock()} asks for a handle on it without a time limit,
 * or a reader waits without a time limit for the write lock of the name it reads.
 */
public final class DeadlockException extends LockkeeperException {
    private static final long serialVersionUID = 1L;

    /** Says who waits for whom. */
    public DeadlockException(String message) {
        super(message);
    }
}
