// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import io.lockkeeper.tck.LockStoreTck;
import io.lockkeeper.tck.StoreFixture;
import io.lockkeeper.testservers.MariaDbServer;

/** MariaDB 11.8 follows the rules. */
class MariaDb11TckTest extends LockStoreTck {
    @Override
    protected StoreFixture start() {
        MariaDbServer server = MariaDbServer.startRelease("trixie");
        return new SqlFixture(server.jdbcUrl(), server);
    }
}
