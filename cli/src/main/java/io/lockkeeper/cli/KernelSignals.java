// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.cli;

import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.function.Consumer;

/**
 * The signals that ask a process to end. One that was ignored when we began (nohup) stays ignored.
 *
 * <p>Java hears signals through {@code sun.misc.Signal} alone, of which javac warns in a way that cannot be turned off;
 * therefore by reflection.
 */
final class KernelSignals {
    private static final List<String> NAMES = List.of("HUP", "INT", "TERM");

    /** A signal that has arrived: {@code INT}, 2. */
    record Caught(String name, int number) {
        /** What a shell reports of a process that it ended. */
        int exitCode() {
            return Exit.SIGNAL + number;
        }
    }

    private KernelSignals() {}

    static void onEach(Consumer<Caught> action) {
        try {
            Class<?> signal = Class.forName("sun.misc.Signal");
            Class<?> handler = Class.forName("sun.misc.SignalHandler");
            Method handle = signal.getMethod("handle", signal, handler);
            for (String name : NAMES) {
                Object one = signal.getConstructor(String.class).newInstance(name);
                Caught caught =
                        new Caught(name, (Integer) signal.getMethod("getNumber").invoke(one));
                Object proxy = Proxy.newProxyInstance(
                        handler.getClassLoader(), new Class<?>[] {handler}, (self, method, arguments) -> {
                            if (method.getName().equals("handle")) {
                                action.accept(caught);
                            }
                            return null;
                        });
                handle.invoke(null, one, proxy);
            }
        } catch (ReflectiveOperationException e) {
            throw new Failure(Exit.SOFTWARE, "this Java cannot hear signals: " + e);
        }
    }
}
