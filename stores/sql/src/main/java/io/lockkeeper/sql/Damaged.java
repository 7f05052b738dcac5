// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import io.lockkeeper.StoreUnavailableException;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Rows that we cannot read, because somebody has changed them by hand or a newer version has written them. They are left out, so
 * that they harm no other name, and each is reported once.
 */
final class Damaged {
    private static final System.Logger LOG = System.getLogger("io.lockkeeper.sql");

    /** Where many are damaged, a few say enough. */
    private static final int MOST = 100;

    private final Set<String> reported = ConcurrentHashMap.newKeySet();

    /** What a step throws that needs this row. */
    StoreUnavailableException unreadable(@Nullable String what, RuntimeException why) {
        report(what, why);
        return StoreUnavailableException.lasting(
                "the row of '" + what + "' cannot be read (" + why.getMessage() + "); repair or delete it", null);
    }

    /** @param what the name's code, or what stands in its place */
    void report(@Nullable String what, Exception why) {
        String which = String.valueOf(what);
        if (reported.size() < MOST && reported.add(which)) {
            LOG.log(
                    System.Logger.Level.WARNING,
                    "the row of ''{0}'' cannot be read and is left out ({1}); repair or delete it",
                    which,
                    why.getMessage());
        }
    }
}
