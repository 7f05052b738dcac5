// SPDX-License-Identifier: Apache-2.0

/** Lockkeeper on ZooKeeper, compared with Curator's own locks; {@code ./bench zookeeper} runs it. */
@NullMarked
package io.lockkeeper.benchmarks.zookeeper;

import org.jspecify.annotations.NullMarked;
