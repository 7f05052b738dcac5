// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.engine;

import io.lockkeeper.spi.LockStore;
import io.lockkeeper.spi.Signals;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.function.Supplier;

/** Stores, and what they tell, with a test in between: it may delay, change or fail each step. */
final class Intercepted {
    private Intercepted() {}

    /** What goes on to the store. */
    interface Step {
        Object make() throws Throwable;
    }

    /** What a test makes of a step. */
    interface Around {
        Object call(String step, Object[] args, Step store) throws Throwable;
    }

    static LockStore store(LockStore store, Around around) {
        return store(() -> store, around);
    }

    /** A store that may be another one each time it is asked; all of its names are in one lane. */
    static LockStore store(Supplier<? extends LockStore> store, Around around) {
        return proxy(LockStore.class, store, around);
    }

    static Signals signals(Signals signals, Around around) {
        return proxy(Signals.class, () -> signals, around);
    }

    private static <T> T proxy(Class<T> type, Supplier<? extends T> to, Around around) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(), new Class<?>[] {type}, (proxy, method, args) -> switch (method.getName()) {
                    case "lane" -> proxy;
                    case "equals" -> proxy == args[0];
                    case "hashCode" -> System.identityHashCode(proxy);
                    default ->
                        around.call(method.getName(), args, () -> {
                            try {
                                return method.invoke(to.get(), args);
                            } catch (InvocationTargetException e) {
                                throw e.getCause();
                            }
                        });
                }));
    }
}
