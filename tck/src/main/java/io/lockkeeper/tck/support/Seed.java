// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck.support;

import java.util.Random;

/** The seed of all that is random in a run, so that a failure can be played again. */
public final class Seed {
    private Seed() {}

    /** The seed that the system property {@code lockkeeper.seed} gives, or a new one. */
    public static long ofThisRun() {
        return Long.getLong("lockkeeper.seed", new Random().nextInt(1_000_000_000));
    }
}
