// SPDX-License-Identifier: Apache-2.0
/** Random scripts, which a store must answer as the executable model does. */
@NullMarked
package io.lockkeeper.tck.model;

import org.jspecify.annotations.NullMarked;
