// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.zookeeper;

import io.lockkeeper.tck.FleetTck;
import io.lockkeeper.testkit.fleet.FleetFault;
import io.lockkeeper.testservers.ServerFaults;
import io.lockkeeper.testservers.TcpProxy;
import io.lockkeeper.testservers.ZooKeeperEnsemble;
import io.lockkeeper.testservers.ZooKeeperServer;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;

/** Fleets on ZooKeeper: one server, and an ensemble of three. */
final class ZooKeeperFleetTest {
    private static String url(String addresses) {
        return "zookeeper://" + addresses + "?session=6s";
    }

    /** One server with a bad network in front of it. */
    @Nested
    final class OneServer extends FleetTck {
        @Override
        protected Ground start() {
            ZooKeeperServer server = ZooKeeperServer.start();
            TcpProxy proxy = TcpProxy.to(server.port());
            return new Ground() {
                @Override
                public String url() {
                    return ZooKeeperFleetTest.url("127.0.0.1:" + proxy.port());
                }

                @Override
                public List<FleetFault> faults() {
                    List<FleetFault> faults = new ArrayList<>(ServerFaults.of("server", server));
                    faults.addAll(ServerFaults.of(proxy));
                    return faults;
                }

                @Override
                public void close() {
                    proxy.close();
                    server.close();
                }
            };
        }
    }

    /** Three servers, of which one at a time is killed or paused. */
    @Nested
    @Tag("full")
    final class Ensemble extends FleetTck {
        @Override
        protected Ground start() {
            ZooKeeperEnsemble ensemble = ZooKeeperEnsemble.start();
            return new Ground() {
                @Override
                public String url() {
                    return ZooKeeperFleetTest.url(ensemble.addresses());
                }

                @Override
                public List<FleetFault> faults() {
                    List<FleetFault> faults = new ArrayList<>(ServerFaults.of("leader", ensemble::leader));
                    faults.addAll(ServerFaults.of("follower", ensemble::follower));
                    return faults;
                }

                @Override
                public void close() {
                    ensemble.close();
                }
            };
        }
    }
}
