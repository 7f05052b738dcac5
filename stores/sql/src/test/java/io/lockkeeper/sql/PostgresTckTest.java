// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import io.lockkeeper.tck.LockStoreTck;
import io.lockkeeper.tck.StoreFixture;
import io.lockkeeper.testservers.PostgresServer;

/** PostgreSQL follows the rules. */
class PostgresTckTest extends LockStoreTck {
    @Override
    protected StoreFixture start() throws Exception {
        PostgresServer server = PostgresServer.start();
        return new SqlFixture(server.jdbcUrl(), server);
    }
}
