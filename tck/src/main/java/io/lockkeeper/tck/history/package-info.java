// SPDX-License-Identifier: Apache-2.0
/** Recorded histories of many clients, which a correct lock could have produced. */
@NullMarked
package io.lockkeeper.tck.history;

import org.jspecify.annotations.NullMarked;
