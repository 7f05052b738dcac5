// SPDX-License-Identifier: Apache-2.0
/**
 * A fleet of processes that use the same locks in all ways there are, while clients and servers are killed, paused and cut off:
 * what all of them have seen is merged into one history, and judged.
 */
@NullMarked
package io.lockkeeper.testkit.fleet;

import org.jspecify.annotations.NullMarked;
