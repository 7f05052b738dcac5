// SPDX-License-Identifier: Apache-2.0
/** Locks in Redis, raced: Lockkeeper, Redisson, Spring Integration, and loops on the bare clients. */
@NullMarked
package io.lockkeeper.benchmarks.redis;

import org.jspecify.annotations.NullMarked;
