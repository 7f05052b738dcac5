// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.benchmarks.race;

import io.lockkeeper.benchmarks.Suites;
import java.io.EOFException;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.PrintStream;
import java.io.Serializable;
import java.nio.file.Path;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A process of one contender. It reads {@link Order}s from its input, carries them out one after another and writes the answers
 * to its output. It ends when its input ends, whatever it is doing: so it does not outlive the process that started it.
 */
public final class Worker {
    private final Contender contender;
    private final Driver driver;
    private Contender.@Nullable Kept kept;

    private Worker(Contender contender, Page page) {
        this.contender = contender;
        this.driver = new Driver(contender, page);
    }

    /** Suite, store, contender, URL and page. */
    public static void main(String[] args) throws Exception {
        PrintStream answers = System.out;
        System.setOut(System.err);
        BlockingQueue<Order> orders = new LinkedBlockingQueue<>();
        Thread reader = new Thread(() -> read(orders), "orders");
        reader.setDaemon(true);
        reader.start();
        Contender.Entry entry = Stream.concat(
                        Suites.named(args[0]).store(args[1]).contenders().stream(), Stream.of(NoLock.ENTRY))
                .filter(e -> e.name().equals(args[2]))
                .findFirst()
                .orElseThrow();
        try (Contender contender = entry.opening().open(args[3])) {
            Worker worker = new Worker(contender, Page.map(Path.of(args[4])));
            ObjectOutputStream out = new ObjectOutputStream(answers);
            out.flush(); // the other side waits for that
            while (true) {
                out.writeObject(worker.answer(orders.take()));
                out.reset();
                out.flush();
            }
        }
    }

    private static void read(BlockingQueue<Order> orders) {
        try {
            ObjectInputStream in = new ObjectInputStream(System.in);
            while (true) {
                orders.add((Order) in.readObject());
            }
        } catch (EOFException e) {
            Runtime.getRuntime().halt(0);
        } catch (IOException | ClassNotFoundException e) {
            e.printStackTrace();
            Runtime.getRuntime().halt(1);
        }
    }

    private Serializable answer(Order order) {
        try {
            if (order instanceof Order.Run run) {
                return driver.run(run);
            } else if (order instanceof Order.Keep keep) {
                Contender.Kept all = contender.keep(keep.names(), keep.lease());
                kept = all;
                return all.alive();
            } else if (order instanceof Order.Idle idle) {
                return Driver.idle(idle.length());
            }
            Contender.Kept all = Objects.requireNonNull(kept);
            int alive = all.alive();
            all.release();
            return alive;
        } catch (Exception e) {
            e.printStackTrace();
            return new Order.Failed(e.toString());
        }
    }
}
