// SPDX-License-Identifier: Apache-2.0
/**
 * What a store must be able to do, for those who write one. A {@link io.lockkeeper.spi.LockStore} does one atomic step at
 * a time; everything clever is written once, above it. The contract is proved by the module {@code lockkeeper-tck}.
 */
@NullMarked
package io.lockkeeper.spi;

import org.jspecify.annotations.NullMarked;
