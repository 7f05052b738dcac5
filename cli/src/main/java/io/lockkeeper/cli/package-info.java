// SPDX-License-Identifier: Apache-2.0
/** The command line: {@code lockkeeper run}, {@code ls}, {@code inspect}, {@code watch}, {@code break}, {@code check}. */
@NullMarked
package io.lockkeeper.cli;

import org.jspecify.annotations.NullMarked;
