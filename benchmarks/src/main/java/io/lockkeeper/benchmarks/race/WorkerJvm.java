// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.benchmarks.race;

import java.io.EOFException;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** A {@link Worker} in its own JVM, as seen from the one that gives the orders. */
final class WorkerJvm implements AutoCloseable {
    private final Process process;
    private final Path log;
    private final ObjectOutputStream orders;
    private final ObjectInputStream answers;
    private final ExecutorService reader = Executors.newSingleThreadExecutor(task -> {
        Thread thread = new Thread(task, "answers");
        thread.setDaemon(true);
        return thread;
    });

    private WorkerJvm(Process process, Path log, ObjectOutputStream orders, ObjectInputStream answers) {
        this.process = process;
        this.log = log;
        this.orders = orders;
        this.answers = answers;
    }

    /** Starts one, and waits until it has opened the contender; what it prints goes to the file. */
    static WorkerJvm start(Path log, String suite, String store, String contender, String url, Path page)
            throws IOException {
        Process process = new ProcessBuilder(List.of(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        // one thread that collects: there are as many JVMs as processors, or more
                        "-XX:+UseSerialGC",
                        "-Xmx384m",
                        "-cp",
                        System.getProperty("java.class.path"),
                        Worker.class.getName(),
                        suite,
                        store,
                        contender,
                        url,
                        page.toString()))
                .redirectError(ProcessBuilder.Redirect.appendTo(log.toFile()))
                .start();
        try {
            ObjectOutputStream orders = new ObjectOutputStream(process.getOutputStream());
            orders.flush();
            return new WorkerJvm(process, log, orders, new ObjectInputStream(process.getInputStream()));
        } catch (EOFException e) {
            throw new IOException("a process of " + contender + " did not start; see " + log, e);
        }
    }

    /** Gives an order; its answer comes later. */
    <T> Future<T> ask(Order order, Class<T> answer) throws IOException {
        orders.writeObject(order);
        orders.reset();
        orders.flush();
        return reader.submit(() -> {
            Object object = answers.readObject();
            if (object instanceof Order.Failed failed) {
                throw new IOException(failed.message() + "; see " + log);
            }
            return answer.cast(object);
        });
    }

    /** Waits for an answer. */
    <T> T await(Future<T> answer, Duration limit) throws IOException, InterruptedException {
        try {
            return answer.get(limit.toMillis(), TimeUnit.MILLISECONDS);
        } catch (ExecutionException e) {
            throw new IOException("no good answer; see " + log, e.getCause());
        } catch (TimeoutException e) {
            throw new IOException("no answer within " + limit.toSeconds() + " s; see " + log, e);
        }
    }

    /** Ends it immediately: what it held in the store stays there, and is not granted to another. */
    @Override
    public void close() throws InterruptedException {
        process.destroyForcibly().waitFor();
        reader.shutdownNow();
    }
}
