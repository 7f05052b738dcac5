// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testkit.fleet;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.function.BooleanSupplier;

/**
 * What a fleet is to do.
 *
 * @param url of the store, for all members
 * @param folder for logs and the storage that the locks protect; it exists
 * @param members how many processes there are, 2 to 64
 * @param threads how many each has, 1 to 256
 * @param storm for how long faults are caused
 * @param seed of all that is random
 * @param faults of the store; members are killed and paused in any case
 * @param isExclusive whether the store promises, with these faults, that no two hold at once; otherwise only the fence
 *     protects the storage
 * @param letsOthersIn whether others can work while a member is paused as it is now; if not, another moment is chosen
 */
public record FleetPlan(
        String url,
        Path folder,
        int members,
        int threads,
        Duration storm,
        long seed,
        List<FleetFault> faults,
        boolean isExclusive,
        BooleanSupplier letsOthersIn) {
    /**
     * Checks the numbers.
     *
     * @throws IllegalArgumentException if one is out of its range
     */
    public FleetPlan {
        Objects.requireNonNull(url, "url");
        Objects.requireNonNull(folder, "folder");
        require(members >= 2 && members <= 64, "members is " + members + ", not 2 to 64");
        require(threads >= 1 && threads <= 256, "threads is " + threads + ", not 1 to 256");
        require(!storm.isNegative(), "storm is " + storm + ", less than zero");
        faults = List.copyOf(faults);
    }

    private static void require(boolean condition, String what) {
        if (!condition) {
            throw new IllegalArgumentException(what);
        }
    }
}
