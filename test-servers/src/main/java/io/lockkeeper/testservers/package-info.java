// SPDX-License-Identifier: Apache-2.0
/**
 * Real servers for tests: found or fetched by {@link io.lockkeeper.testservers.Binaries}, started on loopback in a temporary
 * folder, ended with the JVM however that ends, to be killed and paused, and behind a
 * {@link io.lockkeeper.testservers.TcpProxy} also to be delayed and cut off. Each wait has a deadline.
 */
@NullMarked
package io.lockkeeper.testservers;

import org.jspecify.annotations.NullMarked;
