// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck.support;

import static java.util.Objects.requireNonNull;

import java.lang.reflect.Proxy;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * What is logged by "io.lockkeeper" while this is open. Uses reflection, so that the module does not require
 * {@code java.logging} for the sake of a few tests; it is what {@link System.Logger} writes to when nothing else is set up.
 */
public final class Warnings implements AutoCloseable {
    // A logger has one filter, and groups of tests run in parallel: so there is one for all, which stays.
    private static final Set<Warnings> OPEN = ConcurrentHashMap.newKeySet();
    private static final Object LOGGER = install();

    /** One record of the log. */
    public record Logged(String message, @Nullable Throwable thrown) {}

    private final List<Logged> records = new CopyOnWriteArrayList<>();
    private volatile Consumer<Logged> handler = logged -> {};

    public Warnings() {
        requireNonNull(LOGGER);
        OPEN.add(this);
    }

    private static Object install() {
        try {
            Class<?> type = Class.forName("java.util.logging.Logger");
            Class<?> filter = Class.forName("java.util.logging.Filter");
            Object logger =
                    requireNonNull(type.getMethod("getLogger", String.class).invoke(null, "io.lockkeeper"));
            Object witness = Proxy.newProxyInstance(
                    Warnings.class.getClassLoader(), new Class<?>[] {filter}, (proxy, method, arguments) -> {
                        if (method.getName().equals("isLoggable")) {
                            Logged logged = read(requireNonNull(arguments)[0]);
                            OPEN.forEach(open -> open.hear(logged));
                        }
                        return method.getReturnType() == boolean.class ? true : null;
                    });
            type.getMethod("setFilter", filter).invoke(logger, witness);
            return logger; // the log manager alone would not keep it, nor its filter
        } catch (ReflectiveOperationException e) {
            throw new LinkageError("no log to look at", e);
        }
    }

    private static Logged read(Object logged) throws ReflectiveOperationException {
        Object message = logged.getClass().getMethod("getMessage").invoke(logged);
        Object arguments = logged.getClass().getMethod("getParameters").invoke(logged);
        String said = String.valueOf(message);
        if (arguments instanceof Object[] given) {
            for (int i = 0; i < given.length; i++) {
                said = said.replace("{" + i + "}", String.valueOf(given[i]));
            }
        }
        return new Logged(
                said, (Throwable) logged.getClass().getMethod("getThrown").invoke(logged));
    }

    private void hear(Logged logged) {
        records.add(logged);
        handler.accept(logged);
    }

    /** Passes each record to this handler from now on, on the thread that logs it. */
    public void handle(Consumer<Logged> by) {
        handler = by;
    }

    /** The records whose message contains {@code what}. */
    public List<Logged> of(String what) {
        return records.stream().filter(r -> r.message().contains(what)).toList();
    }

    @Override
    public void close() {
        OPEN.remove(this);
    }
}
