// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testservers;

import io.lockkeeper.testkit.fleet.FleetFault;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;

/** What can be done to a server and to the network in front of it, for a fleet. */
public final class ServerFaults {
    private static final Duration SLOW = Duration.ofMillis(200);
    private static final Duration JUMP = Duration.ofSeconds(4);

    private ServerFaults() {}

    /** The server is killed with -9 and started again, or stopped and continued. */
    public static List<FleetFault> of(String what, LocalServer server) {
        return of(what, () -> server);
    }

    /** The same for whichever server it is at the time, such as the leader. */
    public static List<FleetFault> of(String what, Supplier<? extends LocalServer> chosen) {
        return List.of(new OnServer(what + " killed", chosen, true), new OnServer(what + " paused", chosen, false));
    }

    private static final class OnServer implements FleetFault {
        private final String name;
        private final Supplier<? extends LocalServer> chosen;
        private final boolean kills;
        private List<LocalServer> hit = List.of();

        OnServer(String name, Supplier<? extends LocalServer> chosen, boolean kills) {
            this.name = name;
            this.chosen = chosen;
            this.kills = kills;
        }

        @Override
        public String name() {
            return name;
        }

        @Override
        public void inflict() {
            LocalServer server = chosen.get();
            hit = List.of(server);
            if (kills) {
                server.kill();
            } else {
                server.pause();
            }
        }

        @Override
        public void heal() {
            hit.forEach(kills ? LocalServer::restart : LocalServer::resume);
            hit = List.of();
        }
    }

    /** The wall clock of a server jumps, by more than most leases of a fleet last, and is right again afterwards. */
    public static List<FleetFault> of(JumpingClock clock) {
        return List.of(
                FleetFault.of("clock set ahead", () -> clock.jump(JUMP), () -> clock.jump(JUMP.negated())),
                FleetFault.of("clock set back", () -> clock.jump(JUMP.negated()), () -> clock.jump(JUMP)));
    }

    /** Connections are cut, bytes are late, requests come late, or replies never. */
    public static List<FleetFault> of(TcpProxy proxy) {
        return List.of(
                FleetFault.of("connections cut", proxy::reset, proxy::pass),
                FleetFault.of("slow network", () -> proxy.delay(Direction.REPLIES, SLOW), proxy::pass),
                FleetFault.of("requests held up", () -> proxy.hold(Direction.REQUESTS), proxy::pass),
                FleetFault.of("replies lost", () -> proxy.drop(Direction.REPLIES), () -> {
                    proxy.pass();
                    proxy.reset(); // what was lost in the middle of a stream is never made good
                }));
    }
}
