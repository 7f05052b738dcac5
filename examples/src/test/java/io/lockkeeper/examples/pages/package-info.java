// SPDX-License-Identifier: Apache-2.0

/** Tests that keep the pages of this repository true: what they name exists, and what they show compiles. */
@NullMarked
package io.lockkeeper.examples.pages;

import org.jspecify.annotations.NullMarked;
