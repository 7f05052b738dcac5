// SPDX-License-Identifier: Apache-2.0

/** Small programs that use Lockkeeper, each complete and run by a test. */
@NullMarked
package io.lockkeeper.examples;

import org.jspecify.annotations.NullMarked;
