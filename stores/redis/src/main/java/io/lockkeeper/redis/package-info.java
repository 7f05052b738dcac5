// SPDX-License-Identifier: Apache-2.0
/** Locks in Redis and Valkey: one server, a Sentinel set or a Cluster. */
@NullMarked
package io.lockkeeper.redis;

import org.jspecify.annotations.NullMarked;
