// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.quorum;

import io.lockkeeper.spi.LockStore;
import io.lockkeeper.spi.Ticker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Executor;
import java.util.concurrent.Semaphore;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Clients of a quorum, its members and the network, on virtual time and one thread at a time: whoever runs runs until it
 * waits. A random number decides what happens next, so that a seed says everything.
 */
final class Simulation {
    private final Random random;
    private final List<SimulatedMember> members = new ArrayList<>();
    private final List<Task> onTheirWay = new ArrayList<>();
    private final List<Client> clients = new ArrayList<>();
    private final Semaphore control = new Semaphore(0);
    private @Nullable Client running;
    private long now = 1_000_000_000L;
    private @Nullable Throwable failure;
    private boolean stopping;

    private record Task(int member, Runnable step) {}

    /** One that acts, on its own thread that runs only when it is its turn. */
    private final class Client {
        final Semaphore turn = new Semaphore(0);
        final Thread thread;
        boolean done;

        Client(Runnable script) {
            thread = new Thread(() -> {
                turn.acquireUninterruptibly();
                try {
                    script.run();
                } catch (Stopped e) {
                    // The run is over.
                } catch (Throwable e) {
                    failure = e;
                }
                done = true;
                control.release();
            });
            thread.setDaemon(true);
            thread.start();
        }

        void pause() {
            control.release();
            turn.acquireUninterruptibly();
            if (stopping) {
                throw new Stopped();
            }
        }
    }

    /** Ends a client in the middle of what it does. */
    private static final class Stopped extends Error {
        private static final long serialVersionUID = 1L;

        Stopped() {
            super("", null, false, false);
        }
    }

    Simulation(long seed, int size, SimulatedMember.@Nullable Mistake mistake) {
        this.random = new Random(seed);
        for (int i = 0; i < size; i++) {
            members.add(new SimulatedMember(this::now, mistake));
            members.get(i).jump(Duration.ofMillis(random.nextInt(900))); // apart, but not further than is allowed
        }
    }

    long now() {
        return now;
    }

    Random random() {
        return random;
    }

    List<SimulatedMember> members() {
        return members;
    }

    /** The clock of the clients, by which they wait. */
    Ticker ticker() {
        return new Ticker() {
            @Override
            public long nanos() {
                return now;
            }

            @Override
            public void parkUntil(long deadline) {
                Client me = running;
                if (me != null && Thread.currentThread() == me.thread) {
                    me.pause();
                }
            }
        };
    }

    /** A client's own connection to the quorum. */
    QuorumStore connect(QuorumOptions options) {
        List<Supplier<LockStore>> openers = new ArrayList<>();
        members.forEach(member -> openers.add(() -> member));
        MemberThreads network = new MemberThreads() {
            @Override
            Executor of(int member, Member.Kind kind) {
                return step -> onTheirWay.add(new Task(member, step));
            }
        };
        return new QuorumStore(
                openers, members.get(0).guarantees(), ticker(), Duration.ZERO, options, network, Duration.ZERO, false);
    }

    void client(Runnable script) {
        clients.add(new Client(script));
    }

    /** Lets a client wait for this long. */
    void rest(Duration time) {
        for (long until = now + time.toNanos(); now < until; ) {
            ticker().parkUntil(until);
        }
    }

    /** Runs until all clients are done, or for this many steps; {@code mischief} happens now and then. */
    void run(int steps, int mischiefOneIn, Runnable mischief) {
        for (int i = 0; i < steps && failure == null && clients.stream().anyMatch(c -> !c.done); i++) {
            if (mischiefOneIn > 0 && random.nextInt(mischiefOneIn) == 0) {
                mischief.run();
            }
            if (!onTheirWay.isEmpty() && random.nextInt(3) > 0) {
                deliver(onTheirWay.remove(random.nextInt(onTheirWay.size())));
            } else {
                wake(clients.get(random.nextInt(clients.size())));
            }
            now += random.nextInt(40) == 0 ? random.nextInt(1_000) * 1_000_000L : random.nextInt(4_000_000);
        }
        stopping = true;
        for (Client client : clients) {
            while (!client.done) {
                wake(client);
            }
        }
        if (failure != null) {
            throw new AssertionError(failure);
        }
    }

    /** A request arrives; or it is lost, or its answer is. */
    private void deliver(Task task) {
        SimulatedMember member = members.get(task.member);
        int dice = random.nextInt(24);
        member.fate(
                dice == 0 ? SimulatedMember.Fate.REQUEST_LOST : dice == 1 ? SimulatedMember.Fate.ANSWER_LOST : null);
        task.step.run();
        member.fate(null);
    }

    private void wake(Client client) {
        if (!client.done) {
            running = client;
            client.turn.release();
            control.acquireUninterruptibly();
            running = null;
        }
    }
}
