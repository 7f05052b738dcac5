// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import io.lockkeeper.tck.FleetTck;
import io.lockkeeper.testkit.fleet.FleetFault;
import io.lockkeeper.testservers.LocalServer;
import io.lockkeeper.testservers.ServerFaults;
import io.lockkeeper.testservers.TcpProxy;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;

/** A database server behind a bad network, for a fleet. */
final class ServerGround implements FleetTck.Ground {
    private final LocalServer server;
    private final TcpProxy proxy;
    private final String url;
    private final List<FleetFault> clock;

    ServerGround(LocalServer server, IntFunction<String> url) {
        this(server, url, List.of());
    }

    /** @param clock what happens to the clock of the server, so that two may hold at once */
    ServerGround(LocalServer server, IntFunction<String> url, List<FleetFault> clock) {
        this.server = server;
        this.proxy = TcpProxy.to(server.port());
        this.url = url.apply(proxy.port());
        this.clock = clock;
    }

    @Override
    public String url() {
        return url;
    }

    @Override
    public List<FleetFault> faults() {
        List<FleetFault> faults = new ArrayList<>(ServerFaults.of("server", server));
        faults.addAll(ServerFaults.of(proxy));
        faults.addAll(clock);
        return faults;
    }

    @Override
    public boolean isExclusive() {
        return clock.isEmpty();
    }

    @Override
    public void close() {
        proxy.close();
        server.close();
    }
}
