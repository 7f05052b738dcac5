// SPDX-License-Identifier: Apache-2.0
/**
 * The contract that every store passes, for those who write one: make a {@link io.lockkeeper.tck.StoreFixture} for the real
 * server and extend {@link io.lockkeeper.tck.LockStoreTck}.
 */
@NullMarked
package io.lockkeeper.tck;

import org.jspecify.annotations.NullMarked;
