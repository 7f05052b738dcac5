// SPDX-License-Identifier: Apache-2.0
/** Locks in Apache ZooKeeper: Curator keeps the connection, the recipe is our own. */
@NullMarked
package io.lockkeeper.zookeeper;

import org.jspecify.annotations.NullMarked;
