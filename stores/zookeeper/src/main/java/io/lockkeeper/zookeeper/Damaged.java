// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.zookeeper;

import static io.lockkeeper.LockkeeperException.printable;

import io.lockkeeper.StoreUnavailableException;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Nodes that we cannot read, because they were made or changed by hand or a newer version has written them. A step
 * that needs one fails; a listing leaves it out, so that it harms no other name, and each is reported once.
 */
final class Damaged {
    private static final System.Logger LOG = System.getLogger("io.lockkeeper.zookeeper");

    /** Where many are damaged, a few say enough. */
    private static final int MOST = 100;

    private final Set<String> reported = ConcurrentHashMap.newKeySet();

    /** Tells such a failure from all others. */
    private static final class Unreadable extends RuntimeException {
        private static final long serialVersionUID = 1;

        Unreadable(String path) {
            super(printable(path), null, false, false);
        }
    }

    /** What a step throws that needs this node. */
    static StoreUnavailableException unreadable(String path) {
        return StoreUnavailableException.lasting(
                "the node " + path
                        + " is damaged, or was not written by this version of Lockkeeper; repair or delete it",
                new Unreadable(path));
    }

    static boolean isCauseOf(StoreUnavailableException e) {
        return e.getCause() instanceof Unreadable;
    }

    /** A listing has left something out. */
    void skipped(String path) {
        if (reported.size() < MOST && reported.add(path)) {
            LOG.log(
                    System.Logger.Level.WARNING,
                    "the node {0} is left out of listings: it is damaged, or was not written by this version of"
                            + " Lockkeeper; repair or delete it",
                    printable(path));
        }
    }
}
