// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.zookeeper;

import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.spi.Ticker;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/**
 * The requests of one session. Those of one connection are carried out in the order in which they are sent.
 *
 * <p><b>The event thread.</b> The client library hands all answers and events to one thread, and a user's callback may
 * keep that thread busy for as long as it likes, or make one of our steps on it. So while answers are known to be stuck
 * there, and for steps made on that very thread, requests go <em>directly</em>: one at a time, by the library's
 * blocking calls, on our own thread, which ends when it is idle.
 */
abstract class Requests {
    private static final long DIRECT_IDLE_SECONDS = 5;

    final ZooKeeper zk;
    final Ticker ticker;
    private final long patience;
    private final ThreadPoolExecutor direct;
    private final AtomicLong asked = new AtomicLong();
    private final AtomicLong delivered = new AtomicLong();

    /** The answer to the last request that goes directly: when it is there, all of them have been sent. */
    private volatile CompletableFuture<Reply> lastDirect = CompletableFuture.completedFuture(null);

    private volatile @Nullable Thread eventThread;
    private volatile boolean stuck;
    private volatile boolean closing;

    /** Used by the thread that sends signs of life. */
    private long sureToBeAnswered;

    /** A request by one of the library's blocking calls. */
    private interface Blocking {
        Reply call() throws KeeperException, InterruptedException;
    }

    Requests(ZooKeeper zk, Ticker ticker, long patience) {
        this.zk = zk;
        this.ticker = ticker;
        this.patience = patience;
        this.direct = new ThreadPoolExecutor(
                1, 1, DIRECT_IDLE_SECONDS, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), task -> {
                    Thread thread = new Thread(task, "lockkeeper-zookeeper-direct");
                    thread.setDaemon(true);
                    return thread;
                });
        direct.allowCoreThreadTimeOut(true);
    }

    /**
     * Called with every answer.
     *
     * @param agreed whether a quorum has agreed to it, if the ensemble has decided it at all
     */
    abstract void answered(Reply answer, long sent, boolean agreed);

    /** The access rights of the nodes that are created. */
    abstract List<ACL> acl();

    /** A transaction, or, of reads alone, many reads in one request. */
    CompletableFuture<Reply> multi(List<Op> ops) {
        boolean isRead = !ops.isEmpty() && ops.get(0).getKind() == Op.OpKind.READ;
        return ask(
                !isRead,
                reply -> zk.multi(ops, (rc, path, ctx, results) -> reply.accept(Reply.ofMulti(rc, results)), null),
                () -> blockingMulti(ops));
    }

    private Reply blockingMulti(List<Op> ops) throws KeeperException, InterruptedException {
        try {
            return Reply.ofMulti(Code.OK.intValue(), zk.multi(ops));
        } catch (KeeperException e) {
            return Reply.ofMulti(e.code().intValue(), e.getResults());
        }
    }

    CompletableFuture<Reply> write(String path, byte[] data, int version) {
        return ask(
                true,
                reply -> zk.setData(path, data, version, (rc, p, ctx, stat) -> reply.accept(Reply.of(rc, stat)), null),
                () -> Reply.of(Code.OK.intValue(), zk.setData(path, data, version)));
    }

    CompletableFuture<Reply> create(String path, byte[] data, CreateMode mode) {
        return ask(
                true,
                reply -> zk.create(
                        path, data, acl(), mode, (rc, p, ctx, name, stat) -> reply.accept(Reply.of(rc, stat)), null),
                () -> {
                    Stat stat = new Stat();
                    zk.create(path, data, acl(), mode, stat);
                    return Reply.of(Code.OK.intValue(), stat);
                });
    }

    CompletableFuture<Reply> delete(String path, int version) {
        return ask(
                true, reply -> zk.delete(path, version, (rc, p, ctx) -> reply.accept(Reply.of(rc, null)), null), () -> {
                    zk.delete(path, version);
                    return Reply.of(Code.OK.intValue(), null);
                });
    }

    /** Brings the server we talk to up to date with what it takes for the leader: this proves nothing. */
    CompletableFuture<Reply> sync(String path) {
        return ask(
                false,
                reply -> zk.sync(path, (rc, p, ctx) -> reply.accept(Reply.of(rc, null)), null),
                () -> blockingMulti(List.of(Op.check(path, -1)))); // no blocking call exists
    }

    CompletableFuture<Reply> read(String path, @Nullable Watcher watcher) {
        return ask(
                false,
                reply -> zk.getData(
                        path,
                        watcher,
                        (rc, p, ctx, data, stat) -> reply.accept(Reply.of(rc, data, stat, List.of())),
                        null),
                () -> {
                    Stat stat = new Stat();
                    byte[] data = zk.getData(path, watcher, stat);
                    return Reply.of(Code.OK.intValue(), data, stat, List.of());
                });
    }

    CompletableFuture<Reply> exists(String path, @Nullable Watcher watcher) {
        return ask(
                false,
                reply -> zk.exists(path, watcher, (rc, p, ctx, stat) -> reply.accept(Reply.of(rc, stat)), null),
                () -> {
                    Stat stat = zk.exists(path, watcher);
                    return Reply.of((stat == null ? Code.NONODE : Code.OK).intValue(), stat);
                });
    }

    CompletableFuture<Reply> children(String path) {
        return ask(
                false,
                reply -> zk.getChildren(
                        path,
                        false,
                        (rc, p, ctx, children, stat) ->
                                reply.accept(Reply.of(rc, null, stat, children == null ? List.of() : children)),
                        null),
                () -> {
                    Stat stat = new Stat();
                    List<String> children = zk.getChildren(path, false, stat);
                    return Reply.of(Code.OK.intValue(), null, stat, children);
                });
    }

    /** Makes the server forget all watches of this connection for a node's data, or its coming. */
    CompletableFuture<Reply> unwatch(String path) {
        return ask(
                false,
                reply -> zk.removeAllWatches(
                        path, Watcher.WatcherType.Data, true, (rc, p, ctx) -> reply.accept(Reply.of(rc, null)), null),
                () -> {
                    zk.removeAllWatches(path, Watcher.WatcherType.Data, true);
                    return Reply.of(Code.OK.intValue(), null);
                });
    }

    private CompletableFuture<Reply> ask(boolean agreed, Consumer<Consumer<Reply>> later, Blocking now) {
        long sent = ticker.nanos();
        CompletableFuture<Reply> reply = new CompletableFuture<>();
        if (stuck && delivered.get() >= asked.get()) {
            stuck = false; // the thread has caught up
        }
        if (stuck || Thread.currentThread() == eventThread) {
            askDirectly(reply, () -> {
                try {
                    settle(reply, make(now), sent, agreed);
                } catch (Throwable e) { // otherwise all later requests would wait for this one
                    reply.completeExceptionally(e);
                }
            });
            return reply;
        }
        awaitDirect();
        asked.incrementAndGet();
        AtomicBoolean counted = new AtomicBoolean();
        try {
            later.accept(answer -> {
                eventThread = Thread.currentThread();
                if (!counted.getAndSet(true)) {
                    delivered.incrementAndGet();
                }
                settle(reply, answer, sent, agreed);
            });
        } catch (Throwable e) { // otherwise answers would seem to be stuck forever
            if (!counted.getAndSet(true)) {
                delivered.incrementAndGet();
            }
            throw e;
        }
        return reply;
    }

    private void askDirectly(CompletableFuture<Reply> reply, Runnable request) {
        try {
            synchronized (direct) { // so that the last of them is known as the last
                direct.execute(request);
                lastDirect = reply;
            }
        } catch (RejectedExecutionException e) {
            throw new StoreUnavailableException("this store has been closed", e);
        } catch (OutOfMemoryError e) {
            throw new StoreUnavailableException("no thread can be started to ask ZooKeeper", e);
        }
    }

    /**
     * What goes directly may still wait to be sent: nothing overtakes it. A listing would not show a node that is made before
     * it, and a claim whose outcome is unknown would be taken for one that was never made.
     */
    private void awaitDirect() {
        CompletableFuture<Reply> last = lastDirect;
        if (!last.isDone() && !closing) {
            answer(last, "earlier requests");
        }
    }

    /** How long an answer is waited for, in nanoseconds. */
    long patience() {
        return patience;
    }

    /** Whether answers are known to wait for the library's event thread. */
    boolean isStuck() {
        return stuck;
    }

    private static Reply make(Blocking request) {
        try {
            return request.call();
        } catch (KeeperException e) {
            return Reply.of(e.code().intValue(), null);
        } catch (InterruptedException e) {
            return Reply.of(
                    Code.CONNECTIONLOSS.intValue(), null); // the store is being closed: whether it was done is unknown
        }
    }

    private void settle(CompletableFuture<Reply> reply, Reply answer, long sent, boolean agreed) {
        answered(answer, sent, agreed && isDecided(answer));
        reply.complete(answer);
    }

    /**
     * Makes a transaction on this thread, past the library's event thread, and finds out whether that one is stuck: when it
     * was answered, all requests that were sent before it have been, too.
     */
    Reply blocking(List<Op> ops) throws InterruptedException {
        stuck = delivered.get() < sureToBeAnswered;
        long before = asked.get();
        long sent = ticker.nanos();
        Reply answer;
        try {
            answer = blockingMulti(ops);
        } catch (KeeperException e) {
            answer = Reply.of(e.code().intValue(), null);
        }
        answered(answer, sent, isDecided(answer));
        if (isDecided(answer)) {
            sureToBeAnswered = before;
        }
        return answer;
    }

    /**
     * Waits for an answer for as long as a step may take, regardless of interrupts; keeps the flag.
     *
     * @throws StoreUnavailableException when there is none, when the connection broke or when the session is over
     */
    Reply await(CompletableFuture<Reply> reply, String what) {
        Reply answer = answer(reply, what);
        if (!isDecided(answer)) {
            throw Failures.of(answer.code(), what);
        }
        return answer;
    }

    /** As {@link #await}, also when the answer is that the connection broke. */
    private Reply answer(CompletableFuture<Reply> reply, String what) {
        long deadline = ticker.nanos() + patience;
        boolean interrupted = Thread.interrupted();
        try {
            for (; ; ) {
                try {
                    return reply.get(deadline - ticker.nanos(), TimeUnit.NANOSECONDS);
                } catch (InterruptedException e) {
                    interrupted = true;
                    if (closing) {
                        throw new StoreUnavailableException("this store has been closed (" + what + ")", e);
                    }
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

    /**
     * Whether the ensemble has processed the request: any other reply may come from a client or server that is cut off.
     */
    private static boolean isDecided(Reply answer) {
        return switch (answer.code()) {
            case OK, NONODE, NODEEXISTS, INVALIDACL, NOTEMPTY, BADVERSION, NOCHILDRENFOREPHEMERALS, NOWATCHER -> true;
            default -> false;
        };
    }

    /** From now on an interrupt ends a wait for an answer; those that go directly end. */
    void close() {
        closing = true;
        direct.shutdownNow();
    }
}
