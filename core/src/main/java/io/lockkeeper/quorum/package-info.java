// SPDX-License-Identifier: Apache-2.0
/**
 * Redlock: a {@link io.lockkeeper.spi.LockStore} made of several independent ones. {@link io.lockkeeper.quorum.QuorumStore}
 * opens with the algorithm and why it is right.
 */
@NullMarked
package io.lockkeeper.quorum;

import org.jspecify.annotations.NullMarked;
