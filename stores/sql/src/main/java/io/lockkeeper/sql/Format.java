// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import io.lockkeeper.StoreUnavailableException;

/** The version of the records. A newer one is refused: it may mean something that we do not know. */
final class Format {
    static final int CURRENT = 1;

    private Format() {}

    static void check(int format) {
        if (format > CURRENT) {
            throw StoreUnavailableException.lasting(
                    "the tables have format " + format + "; this version of Lockkeeper knows up to " + CURRENT, null);
        }
    }
}
