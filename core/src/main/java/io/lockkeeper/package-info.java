// SPDX-License-Identifier: Apache-2.0
/**
 * One lock API on the store you already run. Start at {@link io.lockkeeper.Lockkeeper}; possession of a lock is a
 * {@link io.lockkeeper.Lease}.
 */
@NullMarked
package io.lockkeeper;

import org.jspecify.annotations.NullMarked;
