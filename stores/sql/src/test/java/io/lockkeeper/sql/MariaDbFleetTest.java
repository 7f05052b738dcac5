// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import io.lockkeeper.tck.FleetTck;
import io.lockkeeper.testservers.JumpingClock;
import io.lockkeeper.testservers.MariaDbServer;
import io.lockkeeper.testservers.ServerFaults;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;

/** Fleets on MariaDB: one whose clock is right, and one whose clock jumps. */
@Tag("full")
final class MariaDbFleetTest {
    @TempDir
    private static Path folder;

    /** Killed, paused and cut off. */
    @Nested
    final class OneServer extends FleetTck {
        @Override
        protected Ground start() {
            MariaDbServer server = MariaDbServer.start();
            return new ServerGround(server, server::jdbcUrl);
        }
    }

    /** Its clock is set ahead, which ends leases early, and back: only the fence protects. */
    @Nested
    final class ClockJumps extends FleetTck {
        @Override
        protected Ground start() throws Exception {
            JumpingClock clock = JumpingClock.in(JumpingClock.library(folder, Assumptions::abort));
            MariaDbServer server = MariaDbServer.start(clock.environment(), List.of());
            return new ServerGround(server, server::jdbcUrl, ServerFaults.of(clock));
        }
    }
}
