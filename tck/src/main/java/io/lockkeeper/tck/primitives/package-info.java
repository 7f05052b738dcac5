// SPDX-License-Identifier: Apache-2.0
/** What users see: locks for readers and writers, semaphores, latches, several locks as one, elections, futures, inspection. */
@NullMarked
package io.lockkeeper.tck.primitives;

import org.jspecify.annotations.NullMarked;
