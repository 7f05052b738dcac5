// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.engine;

import java.lang.reflect.Method;
import org.jspecify.annotations.Nullable;

/** Recognizes virtual threads, which Java 17 does not have yet. */
final class VirtualThreads {
    private static final @Nullable Method IS_VIRTUAL = find();

    private VirtualThreads() {}

    private static @Nullable Method find() {
        try {
            return Thread.class.getMethod("isVirtual");
        } catch (NoSuchMethodException e) {
            return null; // before Java 21 there are none
        }
    }

    static boolean isCurrent() {
        if (IS_VIRTUAL == null) {
            return false;
        }
        try {
            return (boolean) IS_VIRTUAL.invoke(Thread.currentThread());
        } catch (ReflectiveOperationException e) {
            throw new LinkageError("Thread.isVirtual is public and throws nothing", e);
        }
    }
}
