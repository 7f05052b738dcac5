// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.engine;

import io.lockkeeper.LockkeeperException;

/** A user's text as it may stand in a message: the name of a lock must not forge lines of a log. */
final class Printable {
    private Printable() {}

    /** The text, with what would not print escaped. */
    static String text(String text) {
        return LockkeeperException.printable(text);
    }

    /** A name in quotes. */
    static String quoted(String name) {
        return "'" + text(name) + "'";
    }
}
