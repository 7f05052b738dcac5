// SPDX-License-Identifier: Apache-2.0

/** Lockkeeper on databases, compared with what else is used there; {@code ./bench sql} runs it. */
@NullMarked
package io.lockkeeper.benchmarks.sql;

import org.jspecify.annotations.NullMarked;
