// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck.nemesis;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/** Threads of both kinds, and what they do. */
final class NemesisThreads {
    private NemesisThreads() {}

    /** Starts a thread: a virtual one if that is wanted and there are any, which is from Java 21 on. */
    static Thread start(String name, boolean virtual, Runnable task) {
        if (virtual && Runtime.version().feature() >= 21) {
            try {
                Method start = Thread.class.getMethod("startVirtualThread", Runnable.class);
                Thread thread = (Thread) start.invoke(null, task);
                thread.setName(name);
                return thread;
            } catch (ReflectiveOperationException e) {
                throw new LinkageError("there are virtual threads from Java 21 on", e);
            }
        }
        Thread thread = new Thread(task, name);
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    /** The living platform threads whose names begin like this. */
    static List<Thread> living(String prefix) {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.isAlive() && thread.getName().startsWith(prefix))
                .toList();
    }

    /** Where a thread is. */
    static String describe(Thread thread) {
        return thread.getName() + ", " + thread.getState()
                + Arrays.stream(thread.getStackTrace())
                        .limit(14)
                        .map(frame -> "\n        at " + frame)
                        .collect(Collectors.joining());
    }
}
