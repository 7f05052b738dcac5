// SPDX-License-Identifier: Apache-2.0

/**
 * Races between ways to lock. {@link io.lockkeeper.benchmarks.race.Bench} starts a store's server and a few JVMs for each
 * {@link io.lockkeeper.benchmarks.race.Contender}, lets them run slices of each
 * {@link io.lockkeeper.benchmarks.race.Workload} in turn, and prints what it counted. A new store is a
 * {@link io.lockkeeper.benchmarks.race.Suite}: set-ups of servers, and one class a contender.
 */
@NullMarked
package io.lockkeeper.benchmarks.race;

import org.jspecify.annotations.NullMarked;
