// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.zookeeper;

import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.spi.Liveness;
import io.lockkeeper.spi.Ticker;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/**
 * One session with the ensemble, and the requests that are made in it. A claim belongs to the session it was made in: when
 * that has ended, nothing of it is ours any more, whatever nodes are still to be seen.
 *
 * <p>Requests of one connection are carried out in the order in which they are sent. What was sent on a connection that broke may
 * still be carried out later; so claims check the version of the session's <em>fence</em>, a node of its own, and the
 * version is raised before anything whose outcome is unknown is looked into.
 *
 * <p><b>How long it lives for sure.</b> The leader ends a session when it has not heard of it for the timeout. A follower tells
 * it of its clients twice a tick, and a tick is at most half a timeout: so when the leader has carried out a request of
 * ours, it has heard of all that we sent a quarter of the timeout before. That moment, not the latest answer, is what the
 * timeout is counted from; an answer from a follower alone proves nothing.
 */
final class Session implements Liveness {
    /** What is left of a session that has ended. */
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

    final ZooKeeper zk;
    final long id;
    final long timeout;

    private final Layout layout;
    private List<ACL> acl;
    private final Ticker ticker;
    private final long patience;

    private volatile int fence;
    private volatile long fencedOff;
    private final AtomicLong losses = new AtomicLong();
    private final ReentrantLock fencing = new ReentrantLock();
    private volatile boolean over;
    private volatile LeaderTime leaderTime = LeaderTime.NONE;
    private volatile long heardOf;
    private volatile long lastContact;

    Session(ZooKeeper zk, Layout layout, List<ACL> acl, Ticker ticker, long patience, long notBefore) {
        this.zk = zk;
        this.id = zk.getSessionId();
        this.timeout = TimeUnit.MILLISECONDS.toNanos(zk.getSessionTimeout());
        this.layout = layout;
        this.acl = acl;
        this.ticker = ticker;
        this.patience = patience;
        // A client that has nothing to say pings every third of the timeout.
        this.lastContact = ticker.nanos();
        this.heardOf = Math.max(notBefore, lastContact - timeout / 3 - timeout / 4);
    }

    boolean isOver() {
        return over || !zk.getState().isAlive();
    }

    void end() {
        over = true;
    }

    LeaderTime leaderTime() {
        return leaderTime;
    }

    List<ACL> acl() {
        return acl;
    }

    @Override
    public long expectedBy() {
        return isOver() ? PAST : lastContact + timeout / 2; // one sign of life is sent after a third
    }

    @Override
    public long tellBy() {
        return endsAt() - Math.min(timeout / 10, LONGEST_NOTICE);
    }

    @Override
    public long endsAt() {
        return isOver() ? PAST : heardOf + timeout - timeout / 100 - FIXED_MARGIN;
    }

    long lastContact() {
        return lastContact;
    }

    /** When to send a sign of life: every third of the timeout, or as soon as it counts while little is known of a session. */
    long signOfLifeDue() {
        long sure = heardOf + timeout - lastContact;
        return lastContact + (sure < timeout / 5 * 3 ? timeout / 4 : timeout / 3);
    }

    /** The leader has carried out a request that was sent at this time. */
    private synchronized void contact(long sent) {
        if (sent - lastContact >= timeout / 4) {
            heardOf = lastContact;
            lastContact = sent;
        }
    }

    // ---- Requests ----

    CompletableFuture<Reply> multi(List<Op> ops) {
        long sent = ticker.nanos();
        CompletableFuture<Reply> reply = new CompletableFuture<>();
        zk.multi(ops, (rc, path, ctx, results) -> settle(reply, Reply.ofMulti(rc, results), sent, true), null);
        return reply;
    }

    CompletableFuture<Reply> write(String path, byte[] data, int version) {
        long sent = ticker.nanos();
        CompletableFuture<Reply> reply = new CompletableFuture<>();
        zk.setData(
                path,
                data,
                version,
                (rc, p, ctx, stat) -> settle(reply, Reply.of(rc, null, stat, List.of()), sent, true),
                null);
        return reply;
    }

    CompletableFuture<Reply> create(String path, byte[] data, CreateMode mode) {
        long sent = ticker.nanos();
        CompletableFuture<Reply> reply = new CompletableFuture<>();
        zk.create(
                path,
                data,
                acl,
                mode,
                (rc, p, ctx, name, stat) -> settle(reply, Reply.of(rc, null, stat, List.of()), sent, true),
                null);
        return reply;
    }

    CompletableFuture<Reply> delete(String path, int version) {
        long sent = ticker.nanos();
        CompletableFuture<Reply> reply = new CompletableFuture<>();
        zk.delete(path, version, (rc, p, ctx) -> settle(reply, Reply.of(rc, null, null, List.of()), sent, true), null);
        return reply;
    }

    /** Brings the server we talk to up to date with the leader. */
    CompletableFuture<Reply> sync() {
        long sent = ticker.nanos();
        CompletableFuture<Reply> reply = new CompletableFuture<>();
        zk.sync(
                layout.sessions(),
                (rc, p, ctx) -> settle(reply, Reply.of(rc, null, null, List.of()), sent, true),
                null);
        return reply;
    }

    CompletableFuture<Reply> read(String path, @Nullable Watcher watcher) {
        CompletableFuture<Reply> reply = new CompletableFuture<>();
        zk.getData(
                path,
                watcher,
                (rc, p, ctx, data, stat) -> settle(reply, Reply.of(rc, data, stat, List.of()), 0, false),
                null);
        return reply;
    }

    CompletableFuture<Reply> exists(String path, @Nullable Watcher watcher) {
        CompletableFuture<Reply> reply = new CompletableFuture<>();
        zk.exists(
                path,
                watcher,
                (rc, p, ctx, stat) -> settle(reply, Reply.of(rc, null, stat, List.of()), 0, false),
                null);
        return reply;
    }

    CompletableFuture<Reply> children(String path) {
        CompletableFuture<Reply> reply = new CompletableFuture<>();
        zk.getChildren(
                path,
                false,
                (rc, p, ctx, children) ->
                        settle(reply, Reply.of(rc, null, null, children == null ? List.of() : children), 0, false),
                null);
        return reply;
    }

    private void settle(CompletableFuture<Reply> reply, Reply answer, long sent, boolean throughLeader) {
        if (answer.is(Code.SESSIONEXPIRED)) {
            over = true;
        } else if (answer.is(Code.CONNECTIONLOSS)) {
            losses.incrementAndGet();
        } else if (throughLeader && isDecided(answer)) {
            contact(sent);
            tellTime(answer);
        }
        reply.complete(answer);
    }

    private void tellTime(Reply answer) {
        Stat stat = answer.stat();
        if (stat == null && answer.isOk() && !answer.results().isEmpty()) {
            Object last = answer.results().get(answer.results().size() - 1);
            stat = last instanceof org.apache.zookeeper.OpResult.SetDataResult set ? set.getStat() : null;
        }
        if (stat != null && answer.isOk()) {
            leaderTime = new LeaderTime(stat.getMzxid() >>> 32, stat.getMtime(), ticker.nanos());
        }
    }

    /**
     * Waits for an answer for as long as a step may take, whatever interrupts come; keeps the flag.
     *
     * @throws StoreUnavailableException when there is none, when the connection broke or when the session is over
     */
    Reply await(CompletableFuture<Reply> reply, String what) {
        long deadline = ticker.nanos() + patience;
        boolean interrupted = Thread.interrupted();
        try {
            for (; ; ) {
                try {
                    Reply answer = reply.get(deadline - ticker.nanos(), TimeUnit.NANOSECONDS);
                    return check(answer, what);
                } catch (InterruptedException e) {
                    interrupted = true;
                } catch (TimeoutException e) {
                    throw new StoreUnavailableException("ZooKeeper did not answer in time (" + what + ")", e);
                } catch (ExecutionException e) {
                    throw new StoreUnavailableException("ZooKeeper did not do it (" + what + ")", e);
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private static Reply check(Reply answer, String what) {
        if (!isDecided(answer)) {
            throw Failures.of(answer.code(), what);
        }
        return answer;
    }

    /** Whether the ensemble has looked at the request: all else may come from a client or server that is cut off. */
    private static boolean isDecided(Reply answer) {
        return switch (answer.code()) {
            case OK, NONODE, NODEEXISTS, INVALIDACL, NOTEMPTY, BADVERSION, NOCHILDRENFOREPHEMERALS -> true;
            default -> false;
        };
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
            over = true; // it goes with the session, and nobody else deletes it
            throw new StoreUnavailableException("the session has expired", null);
        }
        return reply.theStat().getVersion();
    }

    /**
     * Makes what the session has of its own. If nobody has said whose nodes are to be, they are the client's own; the server refuses
     * that to a client that it does not know by name, whose nodes are everybody's.
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
        if (!made.isOk() && !made.is(Code.NODEEXISTS)) {
            throw Failures.of(made.code(), "session");
        }
        raiseFence();
    }

    private CompletableFuture<Reply> makeOwn() {
        return multi(List.of(
                Op.create(layout.fence(id), new byte[0], acl, CreateMode.EPHEMERAL),
                Op.create(layout.mailbox(id), new byte[0], acl, CreateMode.EPHEMERAL)));
    }

    /** Makes a node that stays, and those above it. */
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
