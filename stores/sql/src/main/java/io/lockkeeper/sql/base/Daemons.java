// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql.base;

import java.util.concurrent.ThreadFactory;
import org.jspecify.annotations.Nullable;

/** Our own threads, which keep no process alive. */
public final class Daemons {
    private Daemons() {}

    /** Makes threads with this name. */
    public static ThreadFactory named(String name) {
        return task -> {
            Thread thread = new Thread(task, name);
            thread.setDaemon(true);
            return thread;
        };
    }

    /** Starts a thread; null when the process gets no more of them now. */
    public static @Nullable Thread start(ThreadFactory threads, Runnable task) {
        try {
            Thread thread = threads.newThread(task);
            thread.start();
            return thread;
        } catch (OutOfMemoryError e) {
            return null;
        }
    }
}
