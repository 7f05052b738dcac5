// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.redis;

import io.lockkeeper.tck.FleetTck;
import io.lockkeeper.testkit.fleet.FleetFault;
import io.lockkeeper.testservers.JumpingClock;
import io.lockkeeper.testservers.RedisServer;
import io.lockkeeper.testservers.ServerFaults;
import io.lockkeeper.testservers.TcpProxy;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;

/** Fleets on a Redis: one that keeps its data, one that loses them, one whose clock is wrong. */
final class RedisFleetTest {
    @TempDir
    private static Path folder;

    private static final List<String> DURABLE = List.of("--appendonly", "yes", "--appendfsync", "always");

    private static final class OneServer implements FleetTck.Ground {
        private final RedisServer server;
        private final TcpProxy proxy;
        private final List<FleetFault> more;

        /** @param more what else goes wrong, so that two may hold at once */
        OneServer(RedisServer server, List<FleetFault> more) {
            this.server = server;
            this.proxy = TcpProxy.to(server.port());
            this.more = more;
        }

        @Override
        public String url() {
            return "redis://127.0.0.1:" + proxy.port();
        }

        @Override
        public List<FleetFault> faults() {
            List<FleetFault> faults = new ArrayList<>(ServerFaults.of("server", server));
            faults.addAll(ServerFaults.of(proxy));
            faults.addAll(more);
            return faults;
        }

        @Override
        public boolean isExclusive() {
            return more.isEmpty();
        }

        @Override
        public void close() {
            proxy.close();
            server.close();
        }
    }

    /** Killed and started again with all that it has promised. */
    @Nested
    final class KeepsData extends FleetTck {
        @Override
        protected Ground start() {
            return new OneServer(RedisServer.start(Map.of(), DURABLE), List.of());
        }
    }

    /** Flushed, and started again empty. With the data goes who holds what; tokens rise all the same, and the fence protects. */
    @Nested
    @Tag("full")
    final class LosesData extends FleetTck {
        @Override
        protected Ground start() {
            RedisServer server = RedisServer.start();
            return new OneServer(
                    server, List.of(FleetFault.of("data flushed", () -> new Admin(server).ask("FLUSHALL"), () -> {})));
        }
    }

    /** Its clock is set ahead, which ends leases early, and back: only the fence protects. */
    @Nested
    final class ClockJumps extends FleetTck {
        @Override
        protected Ground start() throws Exception {
            JumpingClock clock = JumpingClock.in(JumpingClock.library(folder, Assumptions::abort));
            return new OneServer(RedisServer.start(clock.environment(), DURABLE), ServerFaults.of(clock));
        }
    }
}
