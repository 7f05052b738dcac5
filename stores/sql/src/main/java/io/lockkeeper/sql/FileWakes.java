// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import io.lockkeeper.model.Signal;
import io.lockkeeper.spi.Signals;
import io.lockkeeper.spi.Subscription;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * Processes on one host tell each other directly: each client has a socket in a folder beside the file, and whoever has
 * written something that concerns a client sends it there, after the commit. A message that is lost is found by a slow
 * poll; where there can be no sockets (a path longer than some 75 bytes, a folder that others can write to) the poll is as quick as for any other database.
 */
final class FileWakes extends Poll {
    private static final long SHORTEST = 200_000_000;
    private static final long LONGEST = 400_000_000;
    private static final long CLOSE_MILLIS = 1000;

    private final Path folder;
    private @Nullable Thread thread;
    private @Nullable Mailboxes mailboxes;
    private boolean hopeless;
    private boolean closed;

    FileWakes(Connections connections, Sql sql, long incarnation, Path folder) {
        super(connections, sql, incarnation);
        this.folder = folder;
    }

    @Override
    boolean pushes() {
        return true;
    }

    @Override
    synchronized Subscription listen(String client, Signals signals) {
        Subscription subscription = super.listen(client, signals);
        if (thread == null && !hopeless && !closed) {
            thread = new Thread(this::serve, "lockkeeper-file-wakes");
            thread.setDaemon(true);
            thread.start();
        }
        nudge();
        return () -> {
            subscription.close();
            nudge();
        };
    }

    private synchronized void nudge() {
        if (mailboxes != null) {
            mailboxes.wakeUp();
        }
    }

    @Override
    synchronized long pause() {
        return mailboxes == null ? super.pause() : ThreadLocalRandom.current().nextLong(SHORTEST, LONGEST);
    }

    /** After the transaction: until then there is nothing to see. */
    @Override
    void tellHere(List<Signal> signals) {
        super.tellHere(signals);
        for (Signal signal : signals) {
            if (!listeners().containsKey(signal.client())) {
                Mailboxes.send(folder, signal.client(), SignalText.write(signal));
            }
        }
    }

    private void received(String client, String line) {
        Signals listener = listeners().get(client);
        if (listener != null) {
            SignalText.read(client, line).ifPresentOrElse(s -> super.tellHere(List.of(s)), listener::missed);
        }
    }

    private void serve() {
        try (Mailboxes all = new Mailboxes(folder, this::received)) {
            serve(all);
        } catch (IOException | UnsupportedOperationException e) {
            synchronized (this) {
                hopeless = true; // the quick poll does it
            }
        }
    }

    private void serve(Mailboxes all) throws IOException {
        try {
            while (!isUnused()) {
                boolean opened = all.serve(Set.copyOf(listeners().keySet()));
                synchronized (this) {
                    mailboxes = all;
                }
                if (opened) {
                    listeners().values().forEach(Signals::missed); // what was told before we listened
                } else {
                    all.receive();
                }
            }
        } finally {
            synchronized (this) {
                mailboxes = mailboxes == all ? null : mailboxes;
            }
        }
    }

    /** Nobody listens any more; the next who does starts another thread. */
    private synchronized boolean isUnused() {
        if (closed || listeners().isEmpty()) {
            thread = null;
            return true;
        }
        return false;
    }

    /** Waits for a moment until the sockets are gone, as a process that ends now would leave them behind. */
    @Override
    public void close() {
        super.close();
        Thread running;
        synchronized (this) {
            closed = true;
            running = thread;
            nudge();
        }
        if (running != null && running != Thread.currentThread()) {
            try {
                running.join(CLOSE_MILLIS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
