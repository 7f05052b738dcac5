// SPDX-License-Identifier: Apache-2.0
/**
 * The servers that a store asks, and the connections to them: one server, the master that Sentinels watch over, the
 * masters of a Cluster, or those of your own client. Nothing here knows what a lock is: a step is a
 * {@linkplain io.lockkeeper.redis.server.Call script with its keys and arguments}, and
 * {@link io.lockkeeper.redis.server.Servers} says which server runs it.
 */
@NullMarked
package io.lockkeeper.redis.server;

import org.jspecify.annotations.NullMarked;
