// SPDX-License-Identifier: Apache-2.0
/** What the groups of the contract share: clients and connections, attempts, witnesses, and the base classes of groups. */
@NullMarked
package io.lockkeeper.tck.support;

import org.jspecify.annotations.NullMarked;
