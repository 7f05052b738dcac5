// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.redis;

import io.lockkeeper.tck.FleetTck;
import io.lockkeeper.testkit.fleet.FleetFault;
import io.lockkeeper.testservers.RedisServer;
import io.lockkeeper.testservers.ServerFaults;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;

/** A fleet on a quorum of five, of which one at a time is killed, with its data, or paused. */
@Tag("full")
final class RedlockFleetTest extends FleetTck {
    @Override
    protected Ground start() {
        List<RedisServer> servers =
                IntStream.range(0, 5).mapToObj(i -> RedisServer.start()).toList();
        return new Ground() {
            @Override
            public String url() {
                return RedlockFixture.url(servers) + "?longestLease=2s";
            }

            @Override
            public List<FleetFault> faults() {
                List<FleetFault> faults = new ArrayList<>();
                for (RedisServer server : servers) {
                    faults.addAll(ServerFaults.of("member", server));
                }
                return faults;
            }

            @Override
            public void close() {
                servers.forEach(RedisServer::close);
            }
        };
    }
}
