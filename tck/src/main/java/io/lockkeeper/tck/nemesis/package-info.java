// SPDX-License-Identifier: Apache-2.0
/** Everything at once: random use under random faults, checked as a history and at rest. */
@NullMarked
package io.lockkeeper.tck.nemesis;

import org.jspecify.annotations.NullMarked;
