// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import io.lockkeeper.tck.FleetTck;
import io.lockkeeper.testkit.fleet.FleetFault;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;

/** A fleet on a file. */
final class FileFleetTest extends FleetTck {
    @TempDir
    Path place;

    @Override
    protected Ground start() {
        Path path = place.resolve("locks.db");
        return new Ground() {
            @Override
            public String url() {
                return "file:" + path;
            }

            @Override
            public List<FleetFault> faults() {
                return List.of();
            }

            @Override
            public boolean letsOthersIn() {
                return Db.isWritable("jdbc:sqlite:" + path);
            }

            @Override
            public void close() {}
        };
    }
}
