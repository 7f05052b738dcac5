// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testservers;

import io.lockkeeper.Lockkeeper;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;
import org.jspecify.annotations.Nullable;

/**
 * Searches everything that a user could see for a secret: exceptions with their causes and suppressed ones, texts of objects, and
 * what is logged at any level while it is open: by us ({@link System.Logger}), by {@code java.util.logging}, and by SLF4J if the
 * module's tests use {@link LibraryLogs}.
 */
public final class SecretSearch implements AutoCloseable {
    private static final Logger ROOT = Logger.getLogger("");

    private final List<String> secrets;
    private final Queue<String> logged = new ConcurrentLinkedQueue<>();
    private final List<String> shown = new ArrayList<>();
    private final @Nullable Level before = ROOT.getLevel();
    private final Consumer<String> listener = logged::add;
    private final Handler handler = new Handler() {
        @Override
        public void publish(LogRecord entry) {
            logged.add(entry.getLevel() + " " + entry.getLoggerName() + ": "
                    + new SimpleFormatter().formatMessage(entry)
                    + (entry.getThrown() == null ? "" : "\n" + text(entry.getThrown())));
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
    };

    /** Listens from now on. */
    public SecretSearch(String... secrets) {
        this.secrets = List.of(secrets);
        handler.setLevel(Level.ALL);
        ROOT.addHandler(handler);
        ROOT.setLevel(Level.ALL);
        LibraryLogs.listen(listener);
    }

    /** Everything that an exception can show. */
    public static String text(Throwable thrown) {
        StringWriter all = new StringWriter();
        thrown.printStackTrace(new PrintWriter(all));
        further(thrown, all, Collections.newSetFromMap(new IdentityHashMap<>()));
        return all.toString();
    }

    /** What a stack trace leaves out: exceptions that have others beside them, such as those of JDBC. */
    private static void further(@Nullable Throwable thrown, StringWriter all, Set<Throwable> seen) {
        if (thrown == null || !seen.add(thrown)) {
            return;
        }
        if (thrown instanceof Iterable<?> several) {
            several.forEach(each -> all.append(String.valueOf(each)).append('\n'));
        }
        further(thrown.getCause(), all, seen);
        for (Throwable suppressed : thrown.getSuppressed()) {
            further(suppressed, all, seen);
        }
    }

    /**
     * Connects, and uses a lock if that succeeds.
     *
     * @return why it failed; null if it did not
     */
    public @Nullable Throwable connect(String url) {
        try (Lockkeeper keeper = Lockkeeper.connect(url)) {
            show(keeper);
            show(keeper.lock("a"));
            show(keeper.lock("a").tryAcquire());
            return null;
        } catch (RuntimeException e) {
            show(text(e));
            return e;
        }
    }

    /** Searches the text of this, too. */
    public void show(Object text) {
        shown.add(text.toString());
    }

    /** How many log records were searched whose text contains this. */
    public long logged(String part) {
        return logged.stream().filter(entry -> entry.contains(part)).count();
    }

    /** Whatever shows a secret; empty if nothing does. */
    public List<String> found() {
        List<String> found = new ArrayList<>();
        for (String secret : secrets) {
            shown.stream().filter(text -> text.contains(secret)).forEach(found::add);
            logged.stream()
                    .filter(entry -> entry.contains(secret))
                    .map(entry -> "logged: " + entry)
                    .forEach(found::add);
        }
        return found;
    }

    @Override
    public void close() {
        LibraryLogs.leave(listener);
        ROOT.removeHandler(handler);
        ROOT.setLevel(before);
    }
}
