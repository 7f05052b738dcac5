// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.redis;

import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

/** What the store logs from now on, until this is closed. */
final class Logged extends Handler implements AutoCloseable {
    private final Logger logger = Logger.getLogger("io.lockkeeper.redis");
    private final Queue<String> lines = new ConcurrentLinkedQueue<>();

    Logged() {
        logger.addHandler(this);
    }

    /** The messages that contain this, with their parameters. */
    List<String> with(String part) {
        return lines.stream().filter(line -> line.contains(part)).toList();
    }

    @Override
    public void publish(LogRecord record) {
        lines.add(record.getMessage() + Arrays.toString(record.getParameters()));
    }

    @Override
    public void flush() {}

    @Override
    public void close() {
        logger.removeHandler(this);
    }
}
