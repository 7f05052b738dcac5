// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.memory;

import io.lockkeeper.spi.LockStore;
import io.lockkeeper.spi.StoreProvider;
import io.lockkeeper.spi.StoreUrl;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;

/** {@code memory:} is a store of its own for each keeper; {@code memory:NAME} one that this JVM's keepers share. */
public final class MemoryProvider implements StoreProvider {
    /** The shared stores that are open, with the number of their users; the last one to close drops the store. */
    private static final Map<String, Shared> SHARED = new HashMap<>();

    private static final class Shared {
        final MemoryCore core = MemoryCore.system();
        int users;
    }

    /** For {@link java.util.ServiceLoader}. */
    public MemoryProvider() {}

    @Override
    public Set<String> schemes() {
        return Set.of("memory");
    }

    @Override
    public LockStore open(StoreUrl url) {
        url.allowOnly(Set.of("operationTimeout", "patience"));
        String name = url.rest();
        if (name.isEmpty()) {
            return new MemoryStore(MemoryCore.system());
        }
        synchronized (SHARED) {
            Shared shared = SHARED.computeIfAbsent(name, n -> new Shared());
            shared.users++;
            return new MemoryStore(shared.core, () -> leave(name, shared));
        }
    }

    private static void leave(String name, Shared shared) {
        synchronized (SHARED) {
            if (--shared.users == 0) {
                SHARED.remove(name);
            }
        }
    }
}
