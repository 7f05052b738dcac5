// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import io.lockkeeper.model.Signal;
import io.lockkeeper.spi.Signals;
import io.lockkeeper.spi.Subscription;
import io.lockkeeper.sql.base.Daemons;
import io.lockkeeper.sql.file.FileSource;
import io.lockkeeper.sql.file.Mailboxes;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Processes on one host notify each other directly: each client has a socket in a folder beside the file, and a process
 * that has written something that concerns a client sends it there, after the commit. A message is not trusted: its
 * receiver asks the file ({@link FileHints}). A message that is lost is found by a refresh, or by a slow poll; while
 * there can be no sockets (a path longer than about 75 bytes, a folder that others can write to, no more descriptors)
 * the poll is as quick as for any other database.
 *
 * <p>The thread that serves the sockets also looks, about once a second, whether the file is still the one that was
 * opened.
 */
final class FileWakeUps extends Poll {
    private static final System.Logger LOG = System.getLogger("io.lockkeeper.sql");

    /** A lost message is found by this at the latest; sooner by the refresh of the claim that waits for it. */
    private static final long SHORTEST = 2_500_000_000L;

    private static final long LONGEST = 3_500_000_000L;
    private static final long CLOSE_MILLIS = 1000;

    /** How long a client waits for its socket. */
    private static final long OPEN_MILLIS = 500;

    /** How often to look whether the file is in place, where there are no sockets. */
    private static final long LOOK_NANOS = 1_000_000_000;

    /** After how many looks to try again to make sockets. */
    private static final int LOOKS = 5;

    private final FileSource source;
    private final Path folder;
    private final FileHints hints;
    private final ThreadFactory threads;

    /** Clients that wait for their sockets. */
    private final Map<String, CountDownLatch> unopened = new ConcurrentHashMap<>();

    private @Nullable Thread thread;
    private long triedAt = System.nanoTime();
    private @Nullable Mailboxes mailboxes;
    private volatile boolean closed;

    /** Whether no sockets could be made the last time. */
    private volatile boolean failed;

    FileWakeUps(Connections connections, Sql sql, long incarnation, FileSource source, Path folder) {
        this(connections, sql, incarnation, source, folder, Daemons.named("lockkeeper-file-wakes"));
    }

    /** The same, with threads for the sockets from here. */
    FileWakeUps(
            Connections connections, Sql sql, long incarnation, FileSource source, Path folder, ThreadFactory threads) {
        super(connections, sql, incarnation);
        this.threads = threads;
        this.source = source;
        this.folder = folder;
        this.hints = new FileHints(folder, connections, awaitedClaims(), listeners());
        source.whenDisplaced(this::displaced);
    }

    /** The file that all was held in is gone. */
    private void displaced() {
        listeners().values().forEach(s -> s.sessionLost("the file of locks was removed or replaced"));
    }

    /** As far as it has been tried. */
    @Override
    boolean pushes() {
        return !failed;
    }

    /**
     * Waits for a moment until there is a socket: a client that claims before that would have to ask whether it missed
     * something.
     */
    @Override
    Subscription listen(String client, Signals signals) {
        CountDownLatch opened = new CountDownLatch(1);
        Subscription subscription;
        boolean isServed;
        synchronized (this) {
            unopened.put(client, opened);
            subscription = super.listen(client, signals);
            start(System.nanoTime());
            isServed = thread != null;
            nudge();
        }
        if (isServed) {
            await(opened);
        }
        unopened.remove(client, opened);
        return () -> {
            subscription.close();
            nudge();
        };
    }

    private static void await(CountDownLatch opened) {
        boolean interrupted = Thread.interrupted();
        try {
            opened.await(OPEN_MILLIS, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            interrupted = true;
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Serves sockets from now on; when there is no thread for that, the quick poll does it, and tries this again. */
    private synchronized void start(long now) {
        if (thread == null && !closed && !listeners().isEmpty()) {
            thread = Daemons.start(threads, this::serve);
            triedAt = now;
        }
    }

    private synchronized void nudge() {
        if (mailboxes != null) {
            mailboxes.wakeUp();
        }
    }

    @Override
    synchronized long pause() {
        long now = System.nanoTime();
        if (thread == null && now - triedAt > LOOK_NANOS) {
            start(now);
        }
        return mailboxes == null ? super.pause() : ThreadLocalRandom.current().nextLong(SHORTEST, LONGEST);
    }

    /** After the transaction: until then there is nothing to see. */
    @Override
    void notifyHere(List<Signal> signals) {
        super.notifyHere(signals);
        for (Signal signal : signals) {
            if (!listeners().containsKey(signal.client())) {
                Mailboxes.send(folder, signal.client(), SignalText.write(signal));
            }
        }
    }

    private void serve() {
        while (!isUnused()) {
            try (Mailboxes all = new Mailboxes(folder, hints)) {
                serve(all);
            } catch (IOException | RuntimeException e) {
                failed = true;
                unopened.values().forEach(CountDownLatch::countDown);
                LOG.log(System.Logger.Level.DEBUG, "no sockets in " + folder, e);
                // In the meantime the quick poll does it. There may be sockets later: descriptors come back, folders
                // are shared.
                for (int i = 0; i < LOOKS && !closed; i++) {
                    source.look();
                    LockSupport.parkNanos(LOOK_NANOS);
                }
            }
        }
    }

    private void serve(Mailboxes all) throws IOException {
        try {
            while (!isUnused()) {
                Map<String, Signals> clients = Map.copyOf(listeners());
                boolean opened = all.serve(clients.keySet());
                synchronized (this) {
                    mailboxes = all;
                }
                failed = false;
                source.look();
                if (opened) {
                    clients.forEach(this::opened);
                } else {
                    all.receive();
                    hints.ask();
                }
            }
        } finally {
            synchronized (this) {
                mailboxes = mailboxes == all ? null : mailboxes;
            }
        }
    }

    /** A client that did not wait for its socket may have missed what was sent before. */
    private void opened(String client, Signals signals) {
        CountDownLatch waiting = unopened.remove(client);
        if (waiting != null) {
            waiting.countDown();
        } else {
            signals.missed();
        }
    }

    /** Nobody listens any more; the next listener starts another thread. */
    private synchronized boolean isUnused() {
        if (thread != Thread.currentThread()) {
            return true;
        }
        if (closed || listeners().isEmpty()) {
            thread = null;
            return true;
        }
        return false;
    }

    /** Waits for a moment until the sockets are gone, because a process that ends now would leave them in place. */
    @Override
    public void close() {
        super.close();
        Thread running;
        synchronized (this) {
            closed = true;
            running = thread;
            nudge();
            LockSupport.unpark(running);
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
