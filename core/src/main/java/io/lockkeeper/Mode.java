// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper;

/** How a name is held. */
public enum Mode {
    /** By one alone. */
    EXCLUSIVE,
    /** Together with other readers, never with an exclusive holder. */
    SHARED,
    /** As a number of permits of a semaphore. */
    PERMITS
}
