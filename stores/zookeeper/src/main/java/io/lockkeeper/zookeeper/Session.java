// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.zookeeper;

import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.spi.Liveness;
import io.lockkeeper.spi.Ticker;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Stat;

/**
 * One session with the ensemble. A claim belongs to the session it was made in: when that has ended, the claim is no
 * longer ours, even if its nodes can still be seen.
 *
 * <p>What was sent on a connection that broke may still be carried out later; so claims check the version of the
 * session's <em>fence</em>, its own node, and the version is raised before anything whose outcome is unknown is looked
 * into.
 *
 * <p>How long the session lives for sure follows from {@link Contacts}: only what a quorum has agreed to counts.
 */
final class Session extends Requests implements Liveness {
    /** The liveness of a session that has ended. */
    static final Liveness ENDED = new Liveness() {
        @Override
        public long expectedBy() {
            return PAST;
        }

        @Override
        public long tellBy() {
            return PAST;
        }

        @Override
        public long endsAt() {
            return PAST;
        }
    };

    private static final long PAST = Long.MIN_VALUE / 4;
    private static final long LONGEST_NOTICE = 2_000_000_000L;
    private static final long FIXED_MARGIN = 2_000_000;

    final long id;
    final long timeout;
    final Watches watches;

    private final Layout layout;
    private final Contacts contacts;
    private final BooleanSupplier isClosing;
    private volatile List<ACL> acl;
    private volatile int fence;
    private volatile long fencedOff;
    private final AtomicLong losses = new AtomicLong();
    private final ReentrantLock fencing = new ReentrantLock();
    private volatile boolean over;
    private volatile LeaderTime leaderTime = LeaderTime.NONE;

    /**
     * The session of this handle.
     *
     * @param patience how long an answer is waited for
     * @param notBefore the session began later than this
     * @param isClosing whether the session is being ended on this side: it may live on for a moment, but nothing rests
     *     on it
     * @param listener notified when a node changes that a claim of this session waits for
     */
    Session(
            ZooKeeper zk,
            Layout layout,
            List<ACL> acl,
            Ticker ticker,
            long patience,
            long notBefore,
            BooleanSupplier isClosing,
            Watches.Listener listener) {
        super(zk, ticker, patience);
        this.id = zk.getSessionId();
        this.timeout = TimeUnit.MILLISECONDS.toNanos(zk.getSessionTimeout());
        this.layout = layout;
        this.acl = acl;
        this.isClosing = isClosing;
        this.watches = new Watches(listener);
        // A client that has nothing to say pings every third of the timeout.
        long now = ticker.nanos();
        this.contacts = new Contacts(timeout, Math.max(notBefore, now - timeout / 3 - timeout / 4), now);
    }

    boolean isOver() {
        return over || isClosing.getAsBoolean() || !zk.getState().isAlive();
    }

    void end() {
        over = true;
    }

    LeaderTime leaderTime() {
        return leaderTime;
    }

    @Override
    List<ACL> acl() {
        return acl;
    }

    /** Whether a hold with this lease is kept by its session, and no clock but its own client's ends it earlier. */
    boolean keeps(Duration lease) {
        return lease.toNanos() > timeout;
    }

    // ---- Life ----

    @Override
    public long expectedBy() {
        return isOver() ? PAST : contacts.last() + timeout / 3; // four signs of life are sent in that time
    }

    @Override
    public long tellBy() {
        return endsAt() - Math.min(timeout / 10, LONGEST_NOTICE);
    }

    @Override
    public long endsAt() {
        return isOver() ? PAST : contacts.heardOf() + timeout - timeout / 100 - FIXED_MARGIN;
    }

    long lastContact() {
        return contacts.last();
    }

    /** When to send a sign of life. */
    long signOfLifeDue() {
        return contacts.due();
    }

    /**
     * Gives a sign of life, on this thread: a transaction that changes nothing, and that a quorum agrees to. It finds that the
     * session is over, or that its own nodes were deleted by hand, without which it cannot continue.
     */
    void giveSignOfLife() throws InterruptedException {
        Reply answer = blocking(List.of(Op.check(layout.fence(id), -1), Op.check(layout.mailbox(id), -1)));
        if (answer.is(Code.NONODE)) {
            over = true;
        }
    }

    @Override
    void answered(Reply answer, long sent, boolean agreed) {
        if (answer.is(Code.SESSIONEXPIRED)) {
            over = true;
        } else if (answer.is(Code.CONNECTIONLOSS)) {
            losses.incrementAndGet();
        } else if (agreed) {
            contacts.agreed(sent, ticker.nanos());
            tellTime(answer);
        }
    }

    private void tellTime(Reply answer) {
        Stat stat = answer.stat();
        if (stat == null && answer.isOk() && !answer.results().isEmpty()) {
            OpResult last = answer.results().get(answer.results().size() - 1);
            stat = last instanceof OpResult.SetDataResult set ? set.getStat() : null;
        }
        if (stat != null && answer.isOk()) {
            leaderTime = new LeaderTime(stat.getMzxid() >>> 32, stat.getMtime(), ticker.nanos());
        }
    }

    /** Brings the server we talk to up to date with the leader. */
    CompletableFuture<Reply> sync() {
        return sync(layout.sessions());
    }

    // ---- The fence ----

    Op checkFence() {
        return Op.check(layout.fence(id), fence);
    }

    /** Whether nothing sent on an earlier connection can be carried out any more. */
    boolean isSettled() {
        return fencedOff == losses.get();
    }

    /** Makes sure that nothing sent on an earlier connection can be carried out any more. */
    void settleFence() {
        if (isSettled()) {
            return;
        }
        fencing.lock();
        try {
            long lost = losses.get();
            if (fencedOff != lost) {
                raiseFence();
                fencedOff = lost;
            }
        } finally {
            fencing.unlock();
        }
    }

    private void raiseFence() {
        fence = fenceVersion(await(write(layout.fence(id), new byte[0], -1), "fence"));
    }

    /** Learns how high the fence is: it was raised since we last knew. */
    void readFence() {
        fence = fenceVersion(await(exists(layout.fence(id), null), "fence"));
    }

    private int fenceVersion(Reply reply) {
        if (!reply.isOk()) {
            over = true; // it goes with the session; if it was deleted by hand, nothing made in the session is safe
            throw new StoreUnavailableException("the session has expired", null);
        }
        return reply.theStat().getVersion();
    }

    /**
     * Creates the session's own nodes. If no access rights were given, the nodes belong to this client; the server
     * refuses that to a client that has not authenticated, whose nodes are open to all clients.
     */
    void open() {
        boolean unsaid = acl.isEmpty();
        if (unsaid) {
            acl = ZooDefs.Ids.CREATOR_ALL_ACL;
        }
        Reply made = await(makeOwn(), "session");
        if (unsaid && made.is(Code.INVALIDACL)) {
            acl = ZooDefs.Ids.OPEN_ACL_UNSAFE;
            made = await(makeOwn(), "session");
        }
        if (made.is(Code.NONODE)) {
            for (String path : List.of(layout.sessions(), layout.names(), layout.latches())) {
                mkdirs(path);
            }
            made = await(makeOwn(), "session");
        }
        if (made.is(Code.NODEEXISTS)) { // made by another store on this client, or one of the two was deleted
            await(create(layout.fence(id), new byte[0], CreateMode.EPHEMERAL), "session");
            await(create(layout.mailbox(id), new byte[0], CreateMode.EPHEMERAL), "session");
        } else if (!made.isOk()) {
            throw Failures.of(made.code(), "session");
        }
        raiseFence();
    }

    private CompletableFuture<Reply> makeOwn() {
        return multi(List.of(
                Op.create(layout.fence(id), new byte[0], acl, CreateMode.EPHEMERAL),
                Op.create(layout.mailbox(id), new byte[0], acl, CreateMode.EPHEMERAL)));
    }

    /** Creates a persistent node, and those above it. */
    void mkdirs(String path) {
        Reply made = await(create(path, new byte[0], CreateMode.PERSISTENT), "folder");
        if (made.is(Code.NONODE)) {
            String above = Layout.parent(path);
            if (above.isEmpty()) {
                throw StoreUnavailableException.lasting(
                        "the chroot of the URL does not exist and cannot be made", null);
            }
            mkdirs(above);
            mkdirs(path);
        }
    }
}
