// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.engine;

import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;

/** Makes the threads of one keeper: daemons, named after the keeper and what they do. */
final class Threads {
    private final String clientName;
    private final ThreadFactory factory;
    private final AtomicInteger count = new AtomicInteger();

    Threads(String clientName) {
        this(clientName, Thread::new);
    }

    /** With a factory that may fail, as the machine's own does when the process has too many threads. */
    Threads(String clientName, ThreadFactory factory) {
        this.clientName = clientName;
        this.factory = factory;
    }

    /** Whether interrupting the thread runs no code but the JDK's. */
    static boolean isPlain(Thread thread) {
        try {
            Class<?> interrupts = thread.getClass().getMethod("interrupt").getDeclaringClass();
            return interrupts.getClassLoader() == null;
        } catch (NoSuchMethodException e) {
            throw new LinkageError("every thread can be interrupted", e);
        }
    }

    /**
     * Starts a thread.
     *
     * @throws OutOfMemoryError when the machine has none left
     */
    Thread start(String what, Runnable task) {
        Thread thread = factory.newThread(task);
        thread.setName("lockkeeper-" + Printable.text(clientName) + "-" + what + "-" + count.incrementAndGet());
        thread.setDaemon(true);
        thread.start();
        return thread;
    }
}
