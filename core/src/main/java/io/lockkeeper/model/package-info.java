// SPDX-License-Identifier: Apache-2.0
/**
 * The law, executable: what a store answers to which command at what time. Pure and deterministic; the memory store's
 * heart and the judge of all the others.
 */
@NullMarked
package io.lockkeeper.model;

import org.jspecify.annotations.NullMarked;
