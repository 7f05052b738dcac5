// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import io.lockkeeper.tck.LockStoreTck;
import io.lockkeeper.tck.StoreFixture;
import io.lockkeeper.testservers.MySqlServer;

/** MySQL follows the rules. */
class MySqlTckTest extends LockStoreTck {
    @Override
    protected StoreFixture start() {
        MySqlServer server = MySqlServer.start();
        return new SqlFixture(server.jdbcUrl(), server);
    }
}
