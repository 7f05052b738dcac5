// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.zookeeper;

import io.lockkeeper.Guarantee;
import io.lockkeeper.Guarantees;
import io.lockkeeper.LockInfo;
import io.lockkeeper.LockkeeperException;
import io.lockkeeper.Sequencer;
import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.spi.Answer;
import io.lockkeeper.spi.Claim;
import io.lockkeeper.spi.Grant;
import io.lockkeeper.spi.LatchState;
import io.lockkeeper.spi.LatchStep;
import io.lockkeeper.spi.Liveness;
import io.lockkeeper.spi.LockStore;
import io.lockkeeper.spi.Promises;
import io.lockkeeper.spi.Ranges;
import io.lockkeeper.spi.Renewal;
import io.lockkeeper.spi.Renewals;
import io.lockkeeper.spi.Signals;
import io.lockkeeper.spi.StoreTime;
import io.lockkeeper.spi.Subscription;
import io.lockkeeper.spi.Ticker;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ThreadFactory;
import java.util.function.Consumer;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.imps.CuratorFrameworkState;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.common.PathUtils;
import org.apache.zookeeper.data.ACL;
import org.jspecify.annotations.Nullable;

/**
 * Locks in Apache ZooKeeper. Curator keeps the connection; requests are made on its session directly, one attempt each,
 * so that no session is swapped beneath a step.
 *
 * <p>{@link ClaimRecipe} and {@link TurnCheck} implement the recipe, {@link Session} what is known of a session's life,
 * {@link NameNodes} finds overdue holds, {@link LockDelay} closed names.
 */
public final class ZooKeeperStore implements LockStore {
    /** All but {@link Guarantee#RAISES_TOKENS}: tokens are czxids, which nobody can raise. */
    private static final Guarantees GUARANTEES = new Promises(
            EnumSet.of(
                    Guarantee.FENCED,
                    Guarantee.FAIR,
                    Guarantee.DURABLE,
                    Guarantee.FAILOVER_SAFE,
                    Guarantee.LOCK_DELAY,
                    Guarantee.SHARED,
                    Guarantee.PERMITS,
                    Guarantee.LATCH,
                    Guarantee.PUSH),
            Duration.ofMillis(100));

    /** Where ZooKeeper keeps its own nodes. */
    private static final String RESERVED = "/zookeeper";

    private static final Duration OPERATION_TIMEOUT = Duration.ofSeconds(1);

    private final ClientState clientState;
    private final Sessions sessions;
    private final ClaimRemoval claimRemoval;
    private final ClaimRecipe claimRecipe;
    private final ZooKeeperRenewal renewal;
    private final Inspection inspection;
    private final Latches latches;
    private final SessionMailbox mailbox;
    private final Worker worker;
    private final Consumer<@Nullable Session> onClose;
    private volatile @Nullable String id;

    ZooKeeperStore(
            CuratorFramework curator,
            String root,
            List<ACL> acl,
            Duration operationTimeout,
            long sessionsNotBefore,
            Consumer<@Nullable Session> onClose) {
        this(curator, root, acl, operationTimeout, sessionsNotBefore, onClose, Thread::new);
    }

    /** If a thread cannot be started, it is closed again. */
    ZooKeeperStore(
            CuratorFramework curator,
            String root,
            List<ACL> acl,
            Duration operationTimeout,
            long sessionsNotBefore,
            Consumer<@Nullable Session> onClose,
            ThreadFactory threads) {
        Ticker ticker = Ticker.SYSTEM;
        clientState = new ClientState(ticker, new Layout(root));
        mailbox = new SessionMailbox(clientState);
        claimRemoval = new ClaimRemoval(clientState);
        TurnCheck turnCheck = new TurnCheck(clientState, claimRemoval);
        claimRecipe = new ClaimRecipe(clientState, claimRemoval, turnCheck);
        renewal = new ZooKeeperRenewal(
                clientState, claimRemoval, new QueueRefresh(clientState, turnCheck, claimRemoval), mailbox);
        inspection = new Inspection(clientState, mailbox);
        latches = new Latches(clientState);
        sessions = new Sessions(
                curator,
                clientState.layout,
                acl,
                ticker,
                operationTimeout.toNanos(),
                sessionsNotBefore,
                new Sessions.Events(
                        clientState::changed, session -> mailbox.open(), this::sessionEnded, this::reconnected),
                threads);
        worker = new Worker(clientState, sessions, turnCheck, claimRemoval, mailbox, latches, threads);
        clientState.worker(worker);
        mailbox.onMail(worker::readMail);
        this.onClose = onClose;
        try {
            sessions.start();
            worker.start();
        } catch (Throwable e) {
            close();
            throw e;
        }
    }

    /**
     * Keeps locks below {@code /lockkeeper} in the client's namespace. A client that has authenticated in any way owns
     * the nodes that it makes; the nodes of a client that has not are open to all clients. The client must have been
     * started; it is not closed with the store.
     */
    public static ZooKeeperStore of(CuratorFramework curator) {
        return of(curator, "/lockkeeper", List.of(), OPERATION_TIMEOUT);
    }

    /**
     * As {@link #of(CuratorFramework)}, with the given settings.
     *
     * @param root the path below which everything is kept, in the client's namespace
     * @param acl who may do what with the nodes; when empty, as of {@link #of(CuratorFramework)}
     * @param operationTimeout how long a step may take
     * @throws IllegalArgumentException when the root is no path, is {@code /} or is ZooKeeper's own, or the timeout is
     *     not 10 ms to 1 min
     */
    public static ZooKeeperStore of(CuratorFramework curator, String root, List<ACL> acl, Duration operationTimeout) {
        if (curator.getState() != CuratorFrameworkState.STARTED) {
            throw new IllegalArgumentException("the CuratorFramework has not been started, or has been closed");
        }
        Ranges.operationTimeout(operationTimeout);
        String namespace = curator.getNamespace();
        String path = (namespace == null || namespace.isEmpty() ? "" : "/" + namespace) + root;
        checkRoot(root, path);
        return new ZooKeeperStore(curator, path, List.copyOf(acl), operationTimeout, Long.MIN_VALUE / 2, session -> {});
    }

    private static void checkRoot(String root, String path) {
        String why = "";
        try {
            PathUtils.validatePath(root);
        } catch (IllegalArgumentException e) {
            why = " (" + e.getMessage() + ")";
        }
        if (!why.isEmpty() || root.equals("/") || path.equals(RESERVED) || path.startsWith(RESERVED + "/")) {
            throw new IllegalArgumentException(LockkeeperException.printable("root is '" + root
                    + "'; allowed is the path of a node, such as /lockkeeper, that is not / and not " + RESERVED
                    + " or below it" + why));
        }
    }

    private void sessionEnded(Session session, String why) {
        List<String> left = new ArrayList<>();
        for (Entry entry : clientState.entries.values()) {
            if (entry.session == session && entry.state != Entry.State.NEW) {
                left.add(entry.path());
                clientState.drop(entry);
            }
        }
        if (!left.isEmpty()) {
            clientState.tellAll(signals -> signals.sessionLost(why));
        }
        if (session.zk.getState().isAlive()) {
            // To the server the session continues, and with it the nodes that nobody holds or waits for any more.
            for (String path : left) {
                try {
                    session.delete(path, -1);
                    session.delete(Layout.parent(path), -1); // if no other claim is there
                } catch (StoreUnavailableException e) {
                    Failures.log("a node of a session that was given up could not be deleted: " + path, e);
                }
            }
        }
        session.close();
    }

    private void reconnected() {
        mailbox.open();
        clientState.tellAll(Signals::missed);
    }

    @Override
    public String id() {
        String known = id;
        if (known == null) {
            Session session = sessions.current();
            String path = clientState.layout.id();
            byte[] fresh = UUID.randomUUID().toString().getBytes(StandardCharsets.UTF_8);
            session.await(session.create(path, fresh, CreateMode.PERSISTENT), "id");
            session.await(session.sync(), "id");
            Reply reply = session.await(session.read(path, null), "id");
            if (!reply.isOk()) {
                throw new StoreUnavailableException("the store's id cannot be read", null);
            }
            known = reply.text();
            id = known;
        }
        return known;
    }

    @Override
    public Guarantees guarantees() {
        return GUARANTEES;
    }

    @Override
    public StoreTime time(Object lane) {
        sessions.current();
        return clientState.time();
    }

    @Override
    public Answer claim(Claim claim) {
        return claimRecipe.claim(claim, sessions);
    }

    @Override
    public Renewal renew(Renewals batch) {
        return renewal.renew(batch, sessions);
    }

    @Override
    public boolean release(Grant grant) {
        return claimRemoval.end(grant.claim(), sessions);
    }

    @Override
    public Optional<Grant> downgrade(Grant grant) {
        return claimRemoval.downgrade(grant, sessions);
    }

    @Override
    public void withdraw(Claim claim) {
        claimRemoval.end(claim, sessions);
    }

    @Override
    public LatchState latch(LatchStep step) {
        return latches.step(step, sessions.current());
    }

    @Override
    public Optional<LockInfo> inspect(String name) {
        return inspection.inspect(name, sessions.current());
    }

    @Override
    public List<LockInfo> list(String prefix, int limit) {
        return inspection.list(prefix, limit, sessions.current());
    }

    @Override
    public boolean check(Sequencer sequencer) {
        return inspection.check(sequencer, sessions.current());
    }

    @Override
    public boolean breakHold(String name, long token, Duration lockDelay, boolean now) {
        return inspection.breakHold(name, token, lockDelay, now, sessions.current());
    }

    @Override
    public Subscription listen(String client, Signals signals) {
        clientState.listen(client, signals);
        return () -> clientState.unlisten(client, signals);
    }

    @Override
    public Liveness liveness(Claim claim) {
        Entry entry = clientState.entries.get(claim.id());
        Session session = entry == null ? null : entry.session;
        return session == null ? Session.ENDED : session;
    }

    @Override
    public void close() {
        sessions.close();
        worker.close();
        onClose.accept(sessions.peek());
    }
}
