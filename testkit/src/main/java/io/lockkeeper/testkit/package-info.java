// SPDX-License-Identifier: Apache-2.0
/**
 * For testing code that uses locks: a store that fails on request ({@link io.lockkeeper.testkit.FaultyStore}), time
 * that passes on request ({@link io.lockkeeper.testkit.VirtualTime}), and a checker for what happened
 * ({@code io.lockkeeper.testkit.history}).
 */
@NullMarked
package io.lockkeeper.testkit;

import org.jspecify.annotations.NullMarked;
