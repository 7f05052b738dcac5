// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper;

/** The {@link Lockkeeper} has been closed. */
public final class KeeperClosedException extends LockkeeperException {
    private static final long serialVersionUID = 1L;

    /** Says whose keeper it was. */
    public KeeperClosedException(String message) {
        super(message);
    }
}
