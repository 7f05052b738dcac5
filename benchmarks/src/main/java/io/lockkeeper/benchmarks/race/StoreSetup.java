// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.benchmarks.race;

import java.nio.file.Path;
import java.util.List;
import java.util.OptionalLong;

/** One store: how to start it, and who uses it. */
public interface StoreSetup {
    /** As it is called in tables and on the command line. */
    String id();

    /** Who is measured on it; the first is the floor, a loop on the bare client that all others are compared with. */
    List<Contender.Entry> contenders();

    /** Starts the server, with the tables or keys that contenders need. A folder for its files, if it wants one. */
    Running start(Path folder) throws Exception;

    /** The server as it runs. */
    interface Running extends AutoCloseable {
        /** For contenders in any process of this machine. */
        String url();

        /** How many requests the server has had from others than this object, if it counts them. */
        OptionalLong requests();
    }
}
