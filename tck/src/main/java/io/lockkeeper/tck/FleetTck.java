// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.tck.support.Seed;
import io.lockkeeper.testkit.fleet.Fleet;
import io.lockkeeper.testkit.fleet.FleetFault;
import io.lockkeeper.testkit.fleet.FleetPlan;
import io.lockkeeper.testkit.fleet.FleetReport;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.CleanupMode;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;

/**
 * A fleet of processes on its own real store: clients are killed and paused, and servers and network suffer whatever the
 * subclass can do to them; see {@link Fleet}. It takes seconds in a check, and two minutes in the full tier.
 */
@Isolated("it needs the processors, and servers that others do not use")
public abstract class FleetTck {
    private static final int MEMBERS = 4;
    private static final int THREADS = 8;

    /** The store that the processes compete for, and what can go wrong with it. */
    public interface Ground extends AutoCloseable {
        /** The URL by which every process of this machine reaches it. */
        String url();

        /** The faults that can be caused. */
        List<FleetFault> faults();

        /** Whether no two ever hold at once, whatever faults are caused. */
        default boolean isExclusive() {
            return true;
        }

        /** See {@link StoreFixture#letsOthersIn()}. */
        default boolean letsOthersIn() {
            return true;
        }

        /** Stops the servers. */
        @Override
        void close();
    }

    /** Starts a new, empty store. */
    protected abstract Ground start() throws Exception;

    @Test
    @DisplayName("a fleet of processes keeps its locks while clients and servers are killed, paused and cut off")
    void aFleetKeepsItsLocks(@TempDir(cleanup = CleanupMode.ON_SUCCESS) Path folder) throws Exception {
        long seed = Seed.ofThisRun();
        try (Ground ground = start()) {
            FleetReport report = Fleet.run(new FleetPlan(
                    ground.url(),
                    folder,
                    MEMBERS,
                    THREADS,
                    Duration.ofSeconds(Tier.pick(5, 120, 1_200)),
                    seed,
                    ground.faults(),
                    ground.isExclusive(),
                    ground::letsOthersIn));
            System.out.println("[fleet] " + getClass().getSimpleName() + ": " + report);
            assertThat(report.isGood())
                    .as("-Dlockkeeper.seed=" + seed + ": " + report)
                    .isTrue();
        }
    }
}
