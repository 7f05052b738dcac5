// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.engine;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import org.jspecify.annotations.Nullable;

/** The engine's log. What would not print is escaped, so that no name forges a line. */
final class Log {
    private static final Logger LOG = System.getLogger("io.lockkeeper");

    private Log() {}

    static void info(String message) {
        log(Level.INFO, message, null);
    }

    static void warning(String message, @Nullable Throwable cause) {
        log(Level.WARNING, message, cause);
    }

    static void error(String message, Throwable cause) {
        log(Level.ERROR, message, cause);
    }

    /** What a user's log handler throws must not end the thread that renews. */
    private static void log(Level level, String message, @Nullable Throwable cause) {
        try {
            LOG.log(level, Printable.text(message), cause);
        } catch (Throwable e) {
            // There is nobody left to tell.
        }
    }
}
