// SPDX-License-Identifier: Apache-2.0
/**
 * What the rooms of this module share, and depend on instead of on each other: where connections come from, and how
 * threads are started. Not exported.
 */
@NullMarked
package io.lockkeeper.sql.base;

import org.jspecify.annotations.NullMarked;
