// SPDX-License-Identifier: Apache-2.0
/**
 * What is common to all stores, written once: reentrancy, local hand-off, waiting, timeouts, renewal, loss, events. A
 * reader's way in: {@link io.lockkeeper.engine.Keeper}, then {@code LocalQueue}, {@code Hold}, {@code Renewer}.
 */
@NullMarked
package io.lockkeeper.engine;

import org.jspecify.annotations.NullMarked;
