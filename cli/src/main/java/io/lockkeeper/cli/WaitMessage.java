// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.cli;

import io.lockkeeper.Inspector;
import io.lockkeeper.LockInfo;
import io.lockkeeper.LockkeeperException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/**
 * The message on a terminal while a command waits for its lock: {@code waiting for NAME, held by CLIENT for AGE, N ahead of you}. It
 * is one line, shown after a moment, renewed every second, and wiped when the wait is over.
 */
final class WaitMessage implements AutoCloseable {
    /** Below this nobody reads it. */
    private static final long FIRST_MILLIS = 300;

    private static final long EVERY_MILLIS = 1000;

    private final Inspector inspector;
    private final String name;
    private final Thread thread = new Thread(this::loop, "wait-message");
    private boolean closed;
    private boolean shown;
    private int ahead = Integer.MAX_VALUE;
    private long token;

    private WaitMessage(Inspector inspector, String name) {
        this.inspector = inspector;
        this.name = name;
        thread.setDaemon(true);
    }

    static WaitMessage start(Inspector inspector, String name) {
        WaitMessage message = new WaitMessage(inspector, name);
        if (Terminal.ERR.isTerminal()) {
            message.thread.start();
        }
        return message;
    }

    private void loop() {
        long pause = FIRST_MILLIS;
        int columns = 0;
        while (rest(pause)) {
            try {
                columns = columns == 0 ? columns() : columns;
                Optional<LockInfo> info = inspector.inspect(name);
                show(info.map(this::line).orElse("waiting for " + Text.safe(name)), columns);
            } catch (LockkeeperException e) {
                show("waiting for " + Text.safe(name) + ": the store does not answer", columns);
            }
            pause = EVERY_MILLIS;
        }
    }

    private synchronized boolean rest(long millis) {
        long end = System.nanoTime() + millis * 1_000_000;
        try {
            for (long left = millis; !closed && left > 0; left = (end - System.nanoTime()) / 1_000_000) {
                wait(left);
            }
        } catch (InterruptedException e) {
            return false;
        }
        return !closed;
    }

    private synchronized void show(String line, int columns) {
        if (!closed) {
            shown = true;
            String cut = line.codePointCount(0, line.length()) < columns
                    ? line
                    : line.substring(0, line.offsetByCodePoints(0, Math.max(0, columns - 2))) + "…";
            Terminal.ERR.print("\r\u001b[K" + Terminal.ERR.dim(cut));
        }
    }

    String line(LockInfo info) {
        StringBuilder line = new StringBuilder("waiting for ").append(Text.safe(info.name()));
        int others = Math.max(0, info.waiters() - 1);
        if (!info.holders().isEmpty()) {
            LockInfo.Hold first = info.holders().get(0);
            line.append(", held by ").append(Text.client(first));
            if (info.holders().size() > 1) {
                line.append(" and ").append(info.holders().size() - 1).append(" more");
            }
            line.append(" for ").append(Text.age(first.since()));
            // Those who came after us count as waiters, too; only those who were there first can be ahead.
            ahead = Math.max(0, Math.min(others, token != 0 && token != first.token() ? ahead - 1 : ahead));
            token = first.token();
        } else if (!info.closedFor().isZero()) {
            line.append(", closed for ").append(Text.brief(info.closedFor()));
        }
        ahead = Math.min(ahead, others);
        if (ahead > 0) {
            line.append(", ").append(ahead).append(" ahead of you");
        }
        return line.toString();
    }

    private static int columns() {
        try {
            Process stty = new ProcessBuilder("/bin/sh", "-c", "stty size <&2")
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start();
            String[] size = new String(stty.getInputStream().readAllBytes(), StandardCharsets.US_ASCII)
                    .strip()
                    .split(" ");
            int columns = size.length == 2 ? Integer.parseInt(size[1]) : 80;
            return columns < 20 ? 80 : columns;
        } catch (IOException | NumberFormatException e) {
            return 80;
        }
    }

    @Override
    public synchronized void close() {
        closed = true;
        notifyAll();
        if (shown) {
            Terminal.ERR.print("\r\u001b[K");
        }
    }
}
