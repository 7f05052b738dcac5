// SPDX-License-Identifier: Apache-2.0
/** The rules of {@code docs/law.md}, one or a few groups each. */
@NullMarked
package io.lockkeeper.tck.rules;

import org.jspecify.annotations.NullMarked;
