// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper;

/**
 * Work done while a lock is held.
 *
 * @param <T> what the work gives
 */
@FunctionalInterface
public interface LeaseFunction<T> {
    /** Does the work under {@code lease}, which is released when this returns or throws. */
    T apply(Lease lease) throws Exception;
}
