// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck;

import static java.util.Objects.requireNonNull;

import java.lang.reflect.Proxy;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/**
 * What is logged by "io.lockkeeper" while this is open. Goes by reflection, so that the module does not require
 * {@code java.logging} for the sake of two tests; it is what {@link System.Logger} writes to when nothing else is set up.
 */
final class Warnings implements AutoCloseable {
    /** One record of the log. */
    record Logged(String message, @Nullable Throwable thrown) {}

    private final List<Logged> records = new CopyOnWriteArrayList<>();
    private final Object logger;
    private final @Nullable Object before;

    Warnings() {
        try {
            Class<?> type = Class.forName("java.util.logging.Logger");
            Class<?> filter = Class.forName("java.util.logging.Filter");
            logger = requireNonNull(type.getMethod("getLogger", String.class).invoke(null, "io.lockkeeper"));
            before = type.getMethod("getFilter").invoke(logger);
            Object witness = Proxy.newProxyInstance(
                    getClass().getClassLoader(), new Class<?>[] {filter}, (proxy, method, arguments) -> {
                        if (method.getName().equals("isLoggable")) {
                            note(requireNonNull(arguments)[0]);
                        }
                        return method.getReturnType() == boolean.class ? true : null;
                    });
            type.getMethod("setFilter", filter).invoke(logger, witness);
        } catch (ReflectiveOperationException e) {
            throw new LinkageError("no log to look at", e);
        }
    }

    private void note(Object logged) throws ReflectiveOperationException {
        Object message = logged.getClass().getMethod("getMessage").invoke(logged);
        Object arguments = logged.getClass().getMethod("getParameters").invoke(logged);
        String said = String.valueOf(message);
        if (arguments instanceof Object[] given) {
            for (int i = 0; i < given.length; i++) {
                said = said.replace("{" + i + "}", String.valueOf(given[i]));
            }
        }
        records.add(new Logged(
                said, (Throwable) logged.getClass().getMethod("getThrown").invoke(logged)));
    }

    /** The records that speak of {@code what}. */
    List<Logged> of(String what) {
        return records.stream().filter(r -> r.message().contains(what)).toList();
    }

    @Override
    public void close() throws ReflectiveOperationException {
        logger.getClass()
                .getMethod("setFilter", Class.forName("java.util.logging.Filter"))
                .invoke(logger, before);
    }
}
