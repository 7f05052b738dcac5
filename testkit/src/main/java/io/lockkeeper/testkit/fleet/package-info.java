// SPDX-License-Identifier: Apache-2.0
/**
 * A fleet of processes that use the same locks in every way, while clients and servers are killed, paused and cut off:
 * what all of them observed is merged into one history, and checked.
 */
@NullMarked
package io.lockkeeper.testkit.fleet;

import org.jspecify.annotations.NullMarked;
