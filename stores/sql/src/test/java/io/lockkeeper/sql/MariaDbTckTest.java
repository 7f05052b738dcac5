// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import io.lockkeeper.tck.LockStoreTck;
import io.lockkeeper.tck.StoreFixture;
import io.lockkeeper.testservers.MariaDbServer;

/** MariaDB follows the rules. */
class MariaDbTckTest extends LockStoreTck {
    @Override
    protected StoreFixture start() {
        MariaDbServer server = MariaDbServer.start();
        return new SqlFixture(server.jdbcUrl(), server);
    }
}
