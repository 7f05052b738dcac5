// SPDX-License-Identifier: Apache-2.0
/** Clients in their own JVMs, which are killed and paused. */
@NullMarked
package io.lockkeeper.tck.process;

import org.jspecify.annotations.NullMarked;
