// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.cli;

import java.text.MessageFormat;
import java.util.ResourceBundle;
import org.jspecify.annotations.Nullable;

/** Logging for a command line: warnings in one line on standard error, nothing else, and nothing to configure. */
public final class Warnings extends System.LoggerFinder {
    /** For {@link java.util.ServiceLoader}. */
    public Warnings() {}

    @Override
    public System.Logger getLogger(String name, Module module) {
        return new Log(name);
    }

    private record Log(String name) implements System.Logger {
        @Override
        public String getName() {
            return name;
        }

        @Override
        public boolean isLoggable(Level level) {
            return level.getSeverity() >= Level.WARNING.getSeverity() && name.startsWith("io.lockkeeper");
        }

        @Override
        public void log(
                Level level, @Nullable ResourceBundle bundle, @Nullable String message, @Nullable Throwable thrown) {
            if (isLoggable(level)) {
                Terminal.complain(Text.withDurations(message));
                if (thrown != null && Terminal.isVerbose()) {
                    Terminal.trace(thrown);
                }
            }
        }

        @Override
        public void log(
                Level level, @Nullable ResourceBundle bundle, @Nullable String format, @Nullable Object... parameters) {
            if (isLoggable(level)) {
                Terminal.complain(
                        format == null || parameters.length == 0
                                ? String.valueOf(format)
                                : MessageFormat.format(format, parameters));
            }
        }
    }
}
