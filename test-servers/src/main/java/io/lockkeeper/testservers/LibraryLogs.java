// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testservers;

import java.io.Serial;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.ILoggerFactory;
import org.slf4j.IMarkerFactory;
import org.slf4j.Marker;
import org.slf4j.event.Level;
import org.slf4j.helpers.BasicMarkerFactory;
import org.slf4j.helpers.LegacyAbstractLogger;
import org.slf4j.helpers.MessageFormatter;
import org.slf4j.helpers.NOPMDCAdapter;
import org.slf4j.spi.MDCAdapter;
import org.slf4j.spi.SLF4JServiceProvider;

/**
 * What the libraries of a store log by SLF4J: dropped, unless a {@link SecretSearch} is open, which gets everything from TRACE on.
 * A module's tests choose it in {@code META-INF/services}.
 */
public final class LibraryLogs implements SLF4JServiceProvider {
    private static final List<Consumer<String>> LISTENERS = new CopyOnWriteArrayList<>();

    private final IMarkerFactory markers = new BasicMarkerFactory();
    private final MDCAdapter context = new NOPMDCAdapter();

    /** For {@link java.util.ServiceLoader}. */
    public LibraryLogs() {}

    static void listen(Consumer<String> listener) {
        LISTENERS.add(listener);
    }

    static void leave(Consumer<String> listener) {
        LISTENERS.remove(listener);
    }

    @Override
    public ILoggerFactory getLoggerFactory() {
        return Log::new;
    }

    @Override
    public IMarkerFactory getMarkerFactory() {
        return markers;
    }

    @Override
    public MDCAdapter getMDCAdapter() {
        return context;
    }

    @Override
    public String getRequestedApiVersion() {
        return "2.0.99";
    }

    @Override
    public void initialize() {}

    private static final class Log extends LegacyAbstractLogger {
        @Serial
        private static final long serialVersionUID = 1L;

        Log(String name) {
            this.name = name;
        }

        @Override
        public boolean isTraceEnabled() {
            return !LISTENERS.isEmpty();
        }

        @Override
        public boolean isDebugEnabled() {
            return isTraceEnabled();
        }

        @Override
        public boolean isInfoEnabled() {
            return isTraceEnabled();
        }

        @Override
        public boolean isWarnEnabled() {
            return isTraceEnabled();
        }

        @Override
        public boolean isErrorEnabled() {
            return isTraceEnabled();
        }

        @Override
        protected String getFullyQualifiedCallerName() {
            return "";
        }

        @Override
        protected void handleNormalizedLoggingCall(
                Level level,
                @Nullable Marker marker,
                String message,
                Object @Nullable [] arguments,
                @Nullable Throwable thrown) {
            String text = level + " " + name + ": " + MessageFormatter.basicArrayFormat(message, arguments)
                    + (thrown == null ? "" : "\n" + SecretSearch.text(thrown));
            LISTENERS.forEach(listener -> listener.accept(text));
        }
    }
}
