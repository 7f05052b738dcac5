// SPDX-License-Identifier: Apache-2.0
/** What people do wrong, and what strangers choose: owners, ranges, hostile names and texts. */
@NullMarked
package io.lockkeeper.tck.misuse;

import org.jspecify.annotations.NullMarked;
