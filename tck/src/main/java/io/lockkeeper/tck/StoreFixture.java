// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck;

import io.lockkeeper.spi.LockStore;
import java.util.Optional;

/** A store under test: usually a real server that was started for the test, and is empty at first. */
public interface StoreFixture extends AutoCloseable {
    /**
     * Connects a new client; all clients of a fixture see the same locks. The contract closes each store that it gets here.
     */
    LockStore connect();

    /** A URL by which a keeper in another JVM on this machine reaches the same locks; empty if no other JVM can reach them. */
    Optional<String> url();

    /** How many records of any kind the store has. After locks have come and gone it must be the same again. */
    long size();

    /**
     * Whether other clients can make steps while one of them is paused. False if it was paused in the middle of a step that keeps
     * all others out, such as a write to a file; the contract then resumes it and pauses it again.
     */
    default boolean letsOthersIn() {
        return true;
    }

    /** How many holds one client may have; more are refused. */
    default int mostHolds() {
        return Integer.MAX_VALUE;
    }

    /** Stops the server. */
    @Override
    void close();
}
