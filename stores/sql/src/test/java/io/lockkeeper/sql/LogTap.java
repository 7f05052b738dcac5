// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Filter;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;

/** The warnings of the SQL store while this is open. */
final class LogTap implements AutoCloseable {
    private static final Logger LOGGER = Logger.getLogger("io.lockkeeper.sql");

    private final List<String> warnings = new CopyOnWriteArrayList<>();
    private final Filter before = LOGGER.getFilter();

    LogTap() {
        LOGGER.setFilter(this::hear);
    }

    private boolean hear(LogRecord logged) {
        if (logged.getLevel().intValue() >= Level.WARNING.intValue()) {
            warnings.add(new SimpleFormatter().formatMessage(logged));
        }
        return before == null || before.isLoggable(logged);
    }

    /** Those that contain this text. */
    List<String> warnings(String text) {
        return warnings.stream().filter(w -> w.contains(text)).toList();
    }

    @Override
    public void close() {
        LOGGER.setFilter(before);
    }
}
