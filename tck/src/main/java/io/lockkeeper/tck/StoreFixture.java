// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck;

import io.lockkeeper.spi.LockStore;
import java.util.Optional;

/** A store under test: a real server, started for the purpose, that is empty at first. */
public interface StoreFixture extends AutoCloseable {
    /**
     * Connects a client of its own; all clients of a fixture see the same locks. The contract closes what it has
     * connected.
     */
    LockStore connect();

    /** A URL by which a keeper in another JVM on this machine reaches the same locks; empty when none can. */
    Optional<String> url();

    /** How many records of any kind the store has: the same again after locks have come and gone. */
    long size();

    /**
     * Whether clients get to make steps though one of them is paused; false where it was paused in the middle of a step that
     * keeps all others out, as one who writes to a file does.
     */
    default boolean letsOthersIn() {
        return true;
    }

    /** Ends the server. */
    @Override
    void close();
}
