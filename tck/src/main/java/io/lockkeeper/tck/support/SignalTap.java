// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck.support;

import io.lockkeeper.spi.LockStore;
import io.lockkeeper.spi.Signals;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** A store, with access to the listener of its keeper: to send the keeper signals that the store would not send on demand. */
public final class SignalTap {
    private final AtomicReference<@Nullable Signals> signals = new AtomicReference<>();
    private final LockStore store;

    public SignalTap(LockStore behind) {
        store = (LockStore) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {LockStore.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals("listen")) {
                        signals.set((Signals) Objects.requireNonNull(arguments)[1]);
                    }
                    try {
                        return method.invoke(behind, arguments);
                    } catch (InvocationTargetException e) {
                        throw Objects.requireNonNull(e.getCause());
                    }
                });
    }

    /** The store, for one keeper. */
    public LockStore store() {
        return store;
    }

    /** The listener of the keeper. */
    public Signals signals() {
        return Objects.requireNonNull(signals.get(), "no keeper listens");
    }
}
