// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.zookeeper;

import io.lockkeeper.Guarantee;
import io.lockkeeper.Guarantees;
import io.lockkeeper.LockInfo;
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
import io.lockkeeper.spi.Renewal;
import io.lockkeeper.spi.Renewals;
import io.lockkeeper.spi.Signals;
import io.lockkeeper.spi.StoreTime;
import io.lockkeeper.spi.Subscription;
import io.lockkeeper.spi.Ticker;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Consumer;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.imps.CuratorFrameworkState;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.common.PathUtils;
import org.apache.zookeeper.data.ACL;
import org.jspecify.annotations.Nullable;

/**
 * Locks in Apache ZooKeeper. Curator keeps the connection; requests are made on its session directly, one attempt each, so that
 * no session is swapped beneath a step.
 *
 * <p>{@link Entering} and {@link Looking} have the recipe, {@link Session} what is known of a session's life, {@link Names} lock-delays and
 * overdue holds.
 */
public final class ZooKeeperStore implements LockStore {
    /** Tokens are czxids, which nobody can raise. */
    private static final Guarantees GUARANTEES =
            new Promises(EnumSet.complementOf(EnumSet.of(Guarantee.RAISES_TOKENS)), Duration.ofMillis(100));

    private static final Duration OPERATION_TIMEOUT = Duration.ofSeconds(1);

    private final Desk desk;
    private final Sessions sessions;
    private final Ending ending;
    private final Entering entering;
    private final Renewing renewing;
    private final Inspecting inspecting;
    private final Latches latches;
    private final Mail mail;
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
        Ticker ticker = Ticker.SYSTEM;
        desk = new Desk(ticker, new Layout(root));
        mail = new Mail(desk);
        ending = new Ending(desk);
        Looking looking = new Looking(desk, ending);
        entering = new Entering(desk, ending, looking);
        renewing = new Renewing(desk, looking, ending, mail);
        inspecting = new Inspecting(desk, mail);
        latches = new Latches(desk);
        sessions = new Sessions(
                curator,
                desk.layout,
                acl,
                ticker,
                operationTimeout.toNanos(),
                sessionsNotBefore,
                session -> mail.open(),
                this::sessionEnded,
                this::reconnected);
        worker = new Worker(desk, sessions, looking, ending, mail);
        desk.worker(worker);
        mail.onMail(worker::readMail);
        this.onClose = onClose;
        worker.start();
    }

    /**
     * Keeps locks below {@code /lockkeeper} in the client's namespace. A client that has authenticated in any way owns the nodes
     * that it makes; those of one that has not are everybody's. The client must have been started; it is not closed with the
     * store.
     */
    public static ZooKeeperStore of(CuratorFramework curator) {
        return of(curator, "/lockkeeper", List.of(), OPERATION_TIMEOUT);
    }

    /**
     * As {@link #of(CuratorFramework)}, as it is told.
     *
     * @param root the path below which everything is kept, in the client's namespace
     * @param acl who may do what with the nodes; when empty, as of {@link #of(CuratorFramework)}
     * @param operationTimeout how long a step may take
     */
    public static ZooKeeperStore of(CuratorFramework curator, String root, List<ACL> acl, Duration operationTimeout) {
        if (curator.getState() != CuratorFrameworkState.STARTED) {
            throw new IllegalArgumentException("the CuratorFramework has not been started, or has been closed");
        }
        PathUtils.validatePath(root);
        String namespace = curator.getNamespace();
        String path = (namespace == null || namespace.isEmpty() ? "" : "/" + namespace) + root;
        return new ZooKeeperStore(curator, path, List.copyOf(acl), operationTimeout, Long.MIN_VALUE / 2, session -> {});
    }

    private void sessionEnded(Session session, String why) {
        boolean any = false;
        for (Entry entry : desk.entries.values()) {
            if (entry.session == session && entry.state != Entry.State.NEW) {
                any = true;
                desk.drop(entry);
            }
        }
        if (any) {
            desk.listeners().forEach(signals -> signals.sessionLost(why));
        }
    }

    private void reconnected() {
        mail.open();
        desk.listeners().forEach(Signals::missed);
    }

    @Override
    public String id() {
        String known = id;
        if (known == null) {
            Session session = sessions.current();
            String path = desk.layout.id();
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
        return desk.time();
    }

    @Override
    public Answer claim(Claim claim) {
        return entering.claim(claim, sessions);
    }

    @Override
    public Renewal renew(Renewals batch) {
        return renewing.renew(batch, sessions);
    }

    @Override
    public boolean release(Grant grant) {
        return ending.end(grant.claim(), sessions);
    }

    @Override
    public Optional<Grant> downgrade(Grant grant) {
        return ending.downgrade(grant, sessions);
    }

    @Override
    public void withdraw(Claim claim) {
        ending.end(claim, sessions);
    }

    @Override
    public LatchState latch(LatchStep step) {
        return latches.step(step, sessions.current());
    }

    @Override
    public Optional<LockInfo> inspect(String name) {
        return inspecting.inspect(name, sessions.current());
    }

    @Override
    public List<LockInfo> list(String prefix, int limit) {
        return inspecting.list(prefix, limit, sessions.current());
    }

    @Override
    public boolean check(Sequencer sequencer) {
        return inspecting.check(sequencer, sessions.current());
    }

    @Override
    public boolean breakHold(String name, long token, Duration lockDelay, boolean now) {
        return inspecting.breakHold(name, token, lockDelay, now, sessions.current());
    }

    @Override
    public Subscription listen(String client, Signals signals) {
        desk.listen(client, signals);
        return () -> desk.unlisten(client, signals);
    }

    @Override
    public Liveness liveness(Claim claim) {
        Entry entry = desk.entries.get(claim.id());
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
