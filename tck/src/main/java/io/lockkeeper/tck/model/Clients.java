// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck.model;

import io.lockkeeper.LeaseLost;
import io.lockkeeper.spi.Answer;
import io.lockkeeper.spi.ClaimId;
import io.lockkeeper.spi.LockStore;
import io.lockkeeper.spi.Signals;
import io.lockkeeper.spi.Subscription;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;

/** The clients that play scripts to a store, each on its own connection, and what they hear. */
final class Clients implements AutoCloseable {
    static final int CLIENTS = 3;
    static final int NAMES = 3;

    private final List<LockStore> stores = new ArrayList<>();
    private final List<String> ids = new ArrayList<>();
    private final List<Subscription> subscriptions = new ArrayList<>();
    private final Map<String, Queue<Heard>> heard = new ConcurrentHashMap<>();
    private final AtomicLong numbers = new AtomicLong();
    private volatile boolean missed;

    /** A signal, told to a client; of a claim, or of a latch. */
    record Heard(int client, String what, String about, long token) {}

    Clients(Supplier<LockStore> connect) {
        for (int client = 0; client < CLIENTS; client++) {
            LockStore store = connect.get();
            String id = UUID.randomUUID().toString();
            stores.add(store);
            ids.add(id);
            subscriptions.add(store.listen(id, new Listener(client)));
        }
    }

    LockStore store(int client) {
        return stores.get(client);
    }

    String id(int client) {
        return ids.get(client);
    }

    /** The number of the client with this id. */
    int client(String id) {
        return ids.indexOf(id);
    }

    ClaimId newClaim(int client) {
        return new ClaimId(id(client), numbers.incrementAndGet());
    }

    /** What was heard so far of a claim or a latch. */
    List<Heard> heardOf(String about) {
        Queue<Heard> known = heard.get(about);
        return known == null ? List.of() : List.copyOf(known);
    }

    /** Drops what was heard of a claim or a latch. */
    void forget(String about) {
        heard.remove(about);
    }

    /** Whether signals may have been lost, by the store's own word. */
    boolean missed() {
        return missed;
    }

    @Override
    public void close() {
        subscriptions.forEach(Subscription::close);
        stores.forEach(LockStore::close);
    }

    private final class Listener implements Signals {
        private final int client;

        Listener(int client) {
            this.client = client;
        }

        private void hear(Heard signal) {
            heard.computeIfAbsent(signal.about(), a -> new ConcurrentLinkedQueue<>())
                    .add(signal);
        }

        @Override
        public void granted(ClaimId claim, Answer.Granted grant) {
            hear(new Heard(client, "granted", claim.toString(), grant.token()));
        }

        @Override
        public void recalled(ClaimId claim) {
            hear(new Heard(client, "recalled", claim.toString(), 0));
        }

        @Override
        public void changed(ClaimId claim) {
            hear(new Heard(client, ScriptSignals.CHANGED, claim.toString(), 0));
        }

        @Override
        public void lost(ClaimId claim, LeaseLost.Reason reason) {
            hear(new Heard(client, "lost " + reason, claim.toString(), 0));
        }

        @Override
        public void opened(String latch) {
            hear(new Heard(client, "opened", latch, 0));
        }

        @Override
        public void sessionLost(String why) {
            missed = true;
        }

        @Override
        public void missed() {
            missed = true;
        }
    }
}
