// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper;

import io.lockkeeper.engine.Config;
import io.lockkeeper.engine.Primitives;
import io.lockkeeper.quorum.QuorumOptions;
import io.lockkeeper.quorum.QuorumStore;
import io.lockkeeper.spi.LockStore;
import io.lockkeeper.spi.Ranges;
import io.lockkeeper.spi.StoreProvider;
import io.lockkeeper.spi.StoreUrl;
import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.concurrent.Executor;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Keeps locks in a store. Make one for each process and store, share it, and close it at the end. Safe for use by any
 * number of threads.
 *
 * <pre>{@code
 * try (Lockkeeper keeper = Lockkeeper.connect("memory:")) {
 *     try (Lease lease = keeper.lock("nightly-report").acquire()) {
 *         writeReport(lease.token());
 *     }
 * }
 * }</pre>
 *
 * <p>A <b>name</b> is any non-empty Unicode text of up to 512 bytes in UTF-8; two names that differ in anything are two
 * names. {@code lock(n)} is {@code readWriteLock(n).writeLock()}, and {@code election(n)} uses it; a name in use is a lock
 * or a semaphore, never both; only latches live apart. A bad name is an {@link IllegalArgumentException} at once, a null
 * a {@link NullPointerException}. Objects for names cost nothing and need not be kept; equal names of one keeper give
 * equal locks.
 */
public final class Lockkeeper implements AutoCloseable {
    private final Primitives primitives;

    private Lockkeeper(Primitives primitives) {
        this.primitives = primitives;
    }

    /**
     * Connects to the store at this URL, with defaults.
     *
     * @throws IllegalArgumentException when the URL is wrong: an unknown scheme says which module to add, an unknown
     *     parameter lists the known. No message repeats a secret
     */
    public static Lockkeeper connect(String url) {
        return builder(url).build();
    }

    /** Connects to the store at this URL, with the builder's settings. */
    public static Builder builder(String url) {
        return new Builder(StoreUrl.parse(Objects.requireNonNull(url, "url")), null);
    }

    /** Keeps locks in a store that you made yourself; it is not closed with the keeper. */
    public static Lockkeeper on(LockStore store) {
        return builder(store).build();
    }

    /** Keeps locks in a store that you made yourself, with the builder's settings; it is not closed with the keeper. */
    public static Builder builder(LockStore store) {
        return new Builder(null, Objects.requireNonNull(store, "store"));
    }

    /**
     * Keeps locks in a quorum of independent stores (Redlock): a lock is held by the client to which a majority of them has granted it. The
     * members are not closed with it; close them after it. All clients must list the same members in the same order.
     *
     * <p>A quorum serves nobody in order, has no semaphores and no latches, and allows leases of up to a minute; see
     * {@code docs/stores/quorum.md} for what it can promise and what it cannot.
     *
     * @param members keepers of three to seven stores
     * @throws UnsupportedOperationException when a member's store does not guarantee {@link Guarantee#RAISES_TOKENS} and
     *     {@link Guarantee#LATCH}
     */
    public static Lockkeeper quorum(Lockkeeper... members) {
        return quorumBuilder(members).build();
    }

    /** Keeps locks in a quorum of independent stores, with the builder's settings; see {@link #quorum}. */
    public static Builder quorumBuilder(Lockkeeper... members) {
        List<LockStore> stores = new ArrayList<>();
        for (Lockkeeper member : members) {
            stores.add(Objects.requireNonNull(member, "member").primitives.store());
        }
        return new Builder(timeout -> QuorumStore.of(stores, QuorumOptions.within(timeout)));
    }

    /** The lock of this name. */
    public DistributedLock lock(String name) {
        return lock(name, LockOptions.defaults());
    }

    /** The lock of this name, held as the options say. */
    public DistributedLock lock(String name, LockOptions options) {
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(options, "options");
        return primitives.lock(name, options);
    }

    /** The read-write lock of this name. */
    public DistributedReadWriteLock readWriteLock(String name) {
        return readWriteLock(name, LockOptions.defaults());
    }

    /**
     * The read-write lock of this name, held as the options say.
     *
     * @throws UnsupportedOperationException when the store does not guarantee {@link Guarantee#SHARED}
     */
    public DistributedReadWriteLock readWriteLock(String name, LockOptions options) {
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(options, "options");
        return primitives.readWriteLock(name, options);
    }

    /** The semaphore of this name, with that many permits. */
    public DistributedSemaphore semaphore(String name, int permits) {
        return semaphore(name, permits, LockOptions.defaults());
    }

    /**
     * The semaphore of this name, with that many permits, held as the options say.
     *
     * @param permits at least 1; the same for all who use the name at the same time
     * @throws UnsupportedOperationException when the store does not guarantee {@link Guarantee#PERMITS}
     */
    public DistributedSemaphore semaphore(String name, int permits, LockOptions options) {
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(options, "options");
        return primitives.semaphore(name, permits, options);
    }

    /** The latch of this name. */
    public DistributedLatch latch(String name) {
        return latch(name, LockOptions.defaults());
    }

    /**
     * The latch of this name. No option applies to a latch; they are checked all the same.
     *
     * @throws UnsupportedOperationException when the store does not guarantee {@link Guarantee#LATCH}
     */
    public DistributedLatch latch(String name, LockOptions options) {
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(options, "options");
        return primitives.latch(name, options);
    }

    /** A candidate in the election of this name. */
    public LeaderElection election(String name) {
        return election(name, LockOptions.defaults());
    }

    /** A candidate in the election of this name, leading as the options say. */
    public LeaderElection election(String name, LockOptions options) {
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(options, "options");
        return primitives.election(name, options);
    }

    /** Looks at locks from outside. */
    public Inspector inspector() {
        return primitives.inspector();
    }

    /** What the store promises. */
    public Guarantees guarantees() {
        return primitives.guarantees();
    }

    /**
     * Ends all waits with a {@link KeeperClosedException}, notifies holders that their holds are lost
     * ({@link LeaseLost.Reason#CLOSED}), releases what is held, and leaves no thread. A second call waits until the
     * first is done, unless it is made by a leader for whose return the first call waits.
     */
    @Override
    public void close() {
        primitives.close();
    }

    @Override
    public String toString() {
        return primitives.toString();
    }

    /** How to connect. Not safe for use by several threads. What is not set is taken from the URL, then built in. */
    public static final class Builder {
        private static final Duration BUILT_IN_TIMEOUT = Duration.ofSeconds(1);
        private static final Duration BUILT_IN_PATIENCE = Duration.ofSeconds(10);

        private final @Nullable StoreUrl url;
        private final @Nullable LockStore store;
        private final @Nullable Function<Duration, LockStore> maker;
        private @Nullable String clientName;
        private LockOptions defaults = LockOptions.defaults();
        private @Nullable KeeperListener listener;
        private @Nullable Executor executor;
        private @Nullable Duration operationTimeout;
        private @Nullable Duration patience;
        private boolean releaseOnShutdown;

        private Builder(@Nullable StoreUrl url, @Nullable LockStore store) {
            this.url = url;
            this.store = store;
            this.maker = null;
        }

        /** The store is made when the operation timeout is known, and closed with the keeper. */
        private Builder(Function<Duration, LockStore> maker) {
            this.url = null;
            this.store = null;
            this.maker = maker;
        }

        /** What others are shown as the holder. Built-in: {@code host:pid}. */
        public Builder clientName(String clientName) {
            Objects.requireNonNull(clientName, "clientName");
            if (clientName.isBlank() || clientName.length() > 200) {
                throw new IllegalArgumentException("the client's name has " + clientName.length()
                        + " characters; allowed is 1 to 200, not all blank");
            }
            this.clientName = clientName;
            return this;
        }

        /** Options for locks that do not set them. */
        public Builder defaults(LockOptions defaults) {
            this.defaults = Objects.requireNonNull(defaults, "defaults");
            return this;
        }

        /** Is notified of what happens. */
        public Builder listener(KeeperListener listener) {
            this.listener = Objects.requireNonNull(listener, "listener");
            return this;
        }

        /**
         * Runs the listener, loss actions and the completion of futures. Built-in: the keeper's own daemon threads,
         * which also run what this executor rejects or does not begin in time. If it was shut down, a future that would
         * have been completed with a lock fails with {@link java.util.concurrent.RejectedExecutionException}, and the
         * lock is released.
         */
        public Builder executor(Executor executor) {
            this.executor = Objects.requireNonNull(executor, "executor");
            return this;
        }

        /** How long one step in the store may take. Built-in: 1 s; allowed is 10 ms to 1 min. */
        public Builder operationTimeout(Duration operationTimeout) {
            Objects.requireNonNull(operationTimeout, "operationTimeout");
            this.operationTimeout = check("operationTimeout", operationTimeout, Duration.ofMinutes(1));
            return this;
        }

        /** How long a queued claim outlives an unreachable store. Built-in: 10 s; allowed is 10 ms to 1 h. */
        public Builder patience(Duration patience) {
            Objects.requireNonNull(patience, "patience");
            this.patience = check("patience", patience, Duration.ofHours(1));
            return this;
        }

        /** Whether to close the keeper when the JVM shuts down. Built-in: false. */
        public Builder releaseOnShutdown(boolean releaseOnShutdown) {
            this.releaseOnShutdown = releaseOnShutdown;
            return this;
        }

        private static Duration check(String what, Duration value, Duration most) {
            return Ranges.check(what, value, Duration.ofMillis(10), most);
        }

        /** Connects. */
        public Lockkeeper build() {
            Duration timeout = settle("operationTimeout", operationTimeout, BUILT_IN_TIMEOUT, Duration.ofMinutes(1));
            Duration patient = settle("patience", patience, BUILT_IN_PATIENCE, Duration.ofHours(1));
            Config config = new Config(
                    clientName == null ? hostAndPid() : clientName,
                    defaults,
                    listener,
                    executor,
                    timeout,
                    patient,
                    store == null,
                    releaseOnShutdown);
            LockStore opened = store != null
                    ? store
                    : maker != null
                            ? maker.apply(timeout)
                            : open(Objects.requireNonNull(url).withClientName(config.clientName()), timeout);
            try {
                return new Lockkeeper(new Primitives(opened, config));
            } catch (RuntimeException | Error e) {
                if (store == null) {
                    opened.close();
                }
                throw e;
            }
        }

        private Duration settle(String what, @Nullable Duration given, Duration builtIn, Duration most) {
            if (given != null || url == null) {
                return given == null ? builtIn : given;
            }
            Optional<Duration> fromUrl = url.duration(what);
            return check(what, fromUrl.orElse(builtIn), most);
        }

        private static LockStore open(StoreUrl url, Duration operationTimeout) {
            List<String> known = new ArrayList<>();
            for (StoreProvider provider :
                    ServiceLoader.load(StoreProvider.class, StoreProvider.class.getClassLoader())) {
                if (provider.schemes().contains(url.scheme())) {
                    return open(provider, url.with("operationTimeout", operationTimeout));
                }
                known.addAll(provider.schemes());
            }
            throw StoreModules.missing(url.scheme(), known);
        }

        /** A driver may repeat the URL in its messages. */
        private static LockStore open(StoreProvider provider, StoreUrl url) {
            try {
                return provider.open(url);
            } catch (RuntimeException e) {
                throw url.secrets().hide(e);
            }
        }

        private static String hostAndPid() {
            return hostName() + ":" + ProcessHandle.current().pid();
        }

        /** What the machine calls itself, if possible without asking a resolver, which can take long where there is none. */
        private static String hostName() {
            String fromShell = System.getenv("HOSTNAME");
            if (fromShell != null && !fromShell.isBlank()) {
                return fromShell;
            }
            try {
                return Files.readString(Path.of("/proc/sys/kernel/hostname")).strip();
            } catch (IOException e) {
                // Not Linux.
            }
            try {
                return InetAddress.getLocalHost().getHostName();
            } catch (UnknownHostException e) {
                return "localhost";
            }
        }
    }
}
