// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck;

import io.lockkeeper.LockInfo;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.Mode;
import io.lockkeeper.memory.MemoryCore;
import io.lockkeeper.memory.MemoryStore;
import io.lockkeeper.quorum.QuorumOptions;
import io.lockkeeper.quorum.QuorumStore;
import io.lockkeeper.spi.Answer;
import io.lockkeeper.spi.Claim;
import io.lockkeeper.spi.ClaimId;
import io.lockkeeper.spi.Grant;
import io.lockkeeper.spi.LatchStep;
import io.lockkeeper.spi.LockStore;
import io.lockkeeper.spi.Renewals;
import io.lockkeeper.spi.StoreTime;
import io.lockkeeper.spi.Terms;
import io.lockkeeper.spi.Ticker;
import io.lockkeeper.testkit.FaultyStore;
import io.lockkeeper.testkit.VirtualTime;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;

/**
 * Memory stores on virtual time whose clocks jump and run at another rate, and which lose their memory, as they are told;
 * and clients of their quorum, each with its own faulty connections.
 */
final class QuorumRig implements AutoCloseable {
    /** Patient with members, for busy machines: time that is virtual passes also when nobody gets to run. */
    static final QuorumOptions OPTIONS =
            new QuorumOptions(Duration.ofSeconds(5), Duration.ofSeconds(60), Duration.ofSeconds(10));

    final VirtualTime time = new VirtualTime();
    final List<Server> servers = new ArrayList<>();
    private final Deque<AutoCloseable> toClose = new ArrayDeque<>();

    /** A member's machine. Its tokens begin at its clock, as those of Redis and of databases do. */
    final class Server implements Ticker {
        private long offset;
        private double rate = 1;
        private boolean starting;
        private volatile MemoryCore core = start();

        private synchronized MemoryCore start() {
            starting = true; // a memory store begins its time when it is made; this one is to go by the machine's
            MemoryCore started = MemoryCore.on(this);
            starting = false;
            MemoryStore store = new MemoryStore(started);
            StoreTime now = store.time(store.lane("start"));
            Terms terms = new Terms(
                    Mode.EXCLUSIVE, 1, 0, Duration.ofSeconds(1), Duration.ZERO, Duration.ZERO, 1, false, "", "");
            Claim claim = new Claim("start", new ClaimId("start", 1), terms, now.plusMicros(1), false);
            Grant grant = Grant.of(claim, (Answer.Granted) store.claim(claim));
            store.renew(
                    new Renewals(List.of(new Renewals.Hold(grant, Duration.ofSeconds(1), now.micros())), List.of()));
            store.release(grant);
            return started;
        }

        @Override
        public synchronized long nanos() {
            return starting ? 0 : (long) (time.nanos() * rate) + offset;
        }

        @Override
        public void parkUntil(long deadline) {
            throw new UnsupportedOperationException();
        }

        synchronized void jump(Duration by) {
            offset += by.toNanos();
        }

        /** Its clock runs at another rate, from now on. */
        synchronized void runAt(double rateFromNow) {
            offset += (long) (time.nanos() * rate) - (long) (time.nanos() * rateFromNow);
            rate = rateFromNow;
        }

        /** It restarts with nothing. */
        void loseMemory() {
            core = start();
        }

        /** Whether its marker is there and final. */
        boolean isCounted() {
            long count = new MemoryStore(core)
                    .latch(new LatchStep.Look("lockkeeper-quorum"))
                    .count();
            return count != 0 && (count & 1023) != 1023;
        }

        boolean isHeld(String name) {
            return new MemoryStore(core).inspect(name).isPresent();
        }

        /** Who holds a name there. */
        Optional<LockInfo> inspect(String name) {
            return new MemoryStore(core).inspect(name);
        }

        /** Breaks a hold there, and there alone. */
        boolean breakHold(String name, long token) {
            return new MemoryStore(core).breakHold(name, token, Duration.ZERO, true);
        }

        /** How many records it has; one is the quorum's. */
        int size() {
            return core.size();
        }
    }

    /** A client with its connections. */
    record Client(Lockkeeper keeper, QuorumStore store, List<FaultyStore> connections) {
        FaultyStore to(int member) {
            return connections.get(member);
        }

        void cutOff(int... members) {
            for (int member : members) {
                to(member).down();
            }
        }
    }

    QuorumRig(int members) {
        for (int i = 0; i < members; i++) {
            servers.add(new Server());
        }
    }

    Client client() {
        return client(OPTIONS);
    }

    Client client(QuorumOptions options) {
        List<FaultyStore> connections = new ArrayList<>();
        for (Server server : servers) {
            connections.add(FaultyStore.on(connection(server)));
        }
        QuorumStore store = QuorumStore.of(connections, options);
        toClose.push(store);
        Lockkeeper keeper = Lockkeeper.on(store);
        toClose.push(keeper);
        return new Client(keeper, store, connections);
    }

    /** A connection to whatever the server's memory is at the time of each step. */
    private LockStore connection(Server server) {
        return (LockStore) Proxy.newProxyInstance(
                LockStore.class.getClassLoader(), new Class<?>[] {LockStore.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals("ticker")) {
                        return time; // the client's clock, not the server's
                    }
                    try {
                        return method.invoke(new MemoryStore(server.core), arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    @Override
    public void close() throws Exception {
        while (!toClose.isEmpty()) {
            toClose.pop().close();
        }
    }
}
