// SPDX-License-Identifier: Apache-2.0
/** The keeper: its end, its users' code, and what it does with many claims at once. */
@NullMarked
package io.lockkeeper.tck.keeper;

import org.jspecify.annotations.NullMarked;
