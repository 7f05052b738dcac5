// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.engine;

import io.lockkeeper.DistributedLock;
import io.lockkeeper.DistributedReadWriteLock;

/** The two locks of one name. */
record KeeperReadWriteLock(DistributedLock readLock, DistributedLock writeLock) implements DistributedReadWriteLock {}
