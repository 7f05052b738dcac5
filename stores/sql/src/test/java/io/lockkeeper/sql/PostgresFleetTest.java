// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import io.lockkeeper.tck.FleetTck;
import io.lockkeeper.testservers.PostgresServer;

/** A fleet on PostgreSQL. */
final class PostgresFleetTest extends FleetTck {
    @Override
    protected Ground start() {
        PostgresServer server = PostgresServer.start();
        return new ServerGround(server, server::jdbcUrl);
    }
}
