// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import io.lockkeeper.tck.LockStoreTck;
import io.lockkeeper.tck.StoreFixture;
import io.lockkeeper.testservers.PostgresServer;

/** PostgreSQL 17 follows the rules. */
class Postgres17TckTest extends LockStoreTck {
    @Override
    protected StoreFixture start() {
        PostgresServer server = PostgresServer.startRelease("trixie", 17);
        return new SqlFixture(server.jdbcUrl(), server);
    }
}
