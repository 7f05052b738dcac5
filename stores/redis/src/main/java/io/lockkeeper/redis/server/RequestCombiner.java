// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.redis.server;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisException;

/**
 * Many threads' requests to one server, by flat combining: a thread that finds a free place sends its own request
 * immediately, on its own thread, together with those that others have enqueued in the meantime; it reads all answers
 * and wakes the others. A single thread pays nothing for that; with many, one write and one read serve them all, here
 * and in the server.
 *
 * <p>There are {@value #PLACES} places, so that one batch is in flight while the next is being collected. A request is
 * sent once, or, if its time is up before a thread has taken it into a batch, never.
 */
final class RequestCombiner {
    private static final int PLACES = 2;

    /** A batch of this size is in flight for about a millisecond. */
    private static final int MOST = 64;

    private final Function<List<Call>, List<Object>> sender;
    private final long patience;
    private final AtomicInteger taken = new AtomicInteger();
    private final ConcurrentLinkedQueue<Request> waiting = new ConcurrentLinkedQueue<>();

    private static final class Request {
        static final int PUT_DOWN = 0;
        static final int SENT = 1;
        static final int GIVEN_UP = 2;

        final Call call;
        final Thread thread = Thread.currentThread();
        final AtomicInteger state = new AtomicInteger(PUT_DOWN);
        volatile @Nullable Object answer;

        Request(Call call) {
            this.call = call;
        }
    }

    /** @param patience how long a request waits to be sent, in ns */
    RequestCombiner(Function<List<Call>, List<Object>> sender, long patience) {
        this.sender = sender;
        this.patience = patience;
    }

    /** The answer to a call; it may be an exception that the server sent. */
    Object run(Call call) {
        Request own = new Request(call);
        if (takePlace()) {
            send(own);
        } else {
            waiting.add(own);
            await(own);
        }
        Object answer = own.answer;
        if (answer instanceof Failure failure) {
            throw failure.exception;
        }
        if (answer == null) {
            throw new JedisConnectionException("no answer was read");
        }
        return answer;
    }

    private record Failure(JedisException exception) {}

    /**
     * Waits until a thread has sent it and read the answer, or until there is a place to send it from. An interrupt is
     * kept for later.
     */
    private void await(Request own) {
        long deadline = System.nanoTime() + patience;
        boolean interrupted = false;
        while (own.answer == null) {
            if (own.state.get() == Request.PUT_DOWN && takePlace()) {
                send(null);
                continue;
            }
            long left = deadline - System.nanoTime();
            if (left > 0 || own.state.get() == Request.SENT) {
                LockSupport.parkNanos(this, left > 0 ? left : patience);
                interrupted |= Thread.interrupted();
            } else if (own.state.compareAndSet(Request.PUT_DOWN, Request.GIVEN_UP)) {
                waiting.remove(own);
                own.answer = new Failure(
                        new JedisConnectionException("the server is too slow: a request was not even sent"));
                wakeNext(); // it may have been this request's turn
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private boolean takePlace() {
        int now = taken.get();
        while (now < PLACES) {
            if (taken.compareAndSet(now, now + 1)) {
                return true;
            }
            now = taken.get();
        }
        return false;
    }

    /** Sends the thread's own request, if no other thread has taken it yet, and those of others. */
    private void send(@Nullable Request own) {
        List<Request> batch = new ArrayList<>();
        if (own != null) {
            own.state.set(Request.SENT);
            batch.add(own);
        }
        for (Request r = waiting.poll(); r != null; r = batch.size() < MOST ? waiting.poll() : null) {
            if (r.state.compareAndSet(Request.PUT_DOWN, Request.SENT)) {
                batch.add(r);
            }
        }
        Object failed = new Failure(new JedisConnectionException("the thread that sent the request failed"));
        List<Object> answers = List.of();
        try {
            if (!batch.isEmpty()) {
                answers = sender.apply(batch.stream().map(r -> r.call).toList());
            }
        } catch (JedisException e) {
            failed = new Failure(e);
        } finally {
            taken.decrementAndGet();
            for (int i = 0; i < batch.size(); i++) {
                Request r = batch.get(i);
                r.answer = i < answers.size() ? answers.get(i) : failed;
                if (r.thread != Thread.currentThread()) {
                    LockSupport.unpark(r.thread);
                }
            }
            wakeNext();
        }
    }

    /** A place is free: the next request's thread may send. */
    private void wakeNext() {
        Request next = waiting.peek();
        if (next != null) {
            LockSupport.unpark(next.thread);
        }
    }
}
