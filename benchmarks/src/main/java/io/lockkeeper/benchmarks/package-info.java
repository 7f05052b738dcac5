// SPDX-License-Identifier: Apache-2.0

/** JMH benchmarks; {@code ./bench core} runs them. */
@NullMarked
package io.lockkeeper.benchmarks;

import org.jspecify.annotations.NullMarked;
