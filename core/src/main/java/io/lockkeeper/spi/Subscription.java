// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.spi;

/** Ends a {@link LockStore#listen} when it is closed. */
@FunctionalInterface
public interface Subscription extends AutoCloseable {
    @Override
    void close();
}
