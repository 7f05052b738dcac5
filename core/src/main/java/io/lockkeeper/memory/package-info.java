// SPDX-License-Identifier: Apache-2.0
/** The store that lives in this JVM: the reference model behind a lock. */
@NullMarked
package io.lockkeeper.memory;

import org.jspecify.annotations.NullMarked;
