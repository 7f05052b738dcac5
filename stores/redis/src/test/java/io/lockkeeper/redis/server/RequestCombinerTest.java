// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.redis.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisException;

/** Who sends for whom. */
class RequestCombinerTest {
    private static final long LONG = TimeUnit.SECONDS.toNanos(40);

    private final ExecutorService threads = Executors.newCachedThreadPool();

    @AfterEach
    void end() throws InterruptedException {
        threads.shutdownNow();
        assertThat(threads.awaitTermination(40, TimeUnit.SECONDS)).isTrue();
    }

    /** Nothing here looks at it. */
    private static final class Unread implements LuaScript {
        @Override
        public byte[] text() {
            return new byte[0];
        }

        @Override
        public byte[] sha1() {
            return new byte[0];
        }

        @Override
        public byte[] textForFullServer() {
            return new byte[0];
        }

        @Override
        public boolean needsNoRoom() {
            return false;
        }

        @Override
        public String about(List<byte[]> keys, List<byte[]> arguments) {
            return "";
        }
    }

    private static final LuaScript SCRIPT = new Unread();

    private static Call call(String what) {
        return new Call(0, SCRIPT, List.of(what.getBytes(StandardCharsets.UTF_8)), List.of());
    }

    private static String text(Call call) {
        return new String(call.keys().get(0), StandardCharsets.UTF_8);
    }

    private static <T> T get(Future<T> future) throws Exception {
        return future.get(40, TimeUnit.SECONDS);
    }

    @Test
    void eachCallerGetsItsAnswerAndEachCallIsSentOnce() throws Exception {
        AtomicInteger sent = new AtomicInteger();
        AtomicInteger batches = new AtomicInteger();
        RequestCombiner combiner = new RequestCombiner(
                calls -> {
                    sent.addAndGet(calls.size());
                    batches.incrementAndGet();
                    LockSupport.parkNanos(20_000); // the trip
                    return calls.stream().<Object>map(RequestCombinerTest::text).toList();
                },
                LONG);
        List<Future<Integer>> all = new ArrayList<>();
        for (int t = 0; t < 20; t++) {
            String thread = "t" + t + "-";
            Callable<Integer> worker = () -> {
                for (int i = 0; i < 2_000; i++) {
                    assertThat(combiner.run(call(thread + i))).isEqualTo(thread + i);
                }
                return 2_000;
            };
            all.add(threads.submit(worker));
        }
        int done = 0;
        for (Future<Integer> one : all) {
            done += get(one);
        }
        assertThat(sent).hasValue(done);
        assertThat(batches.get()).as("some were sent together").isLessThan(done);
    }

    @Test
    void aFailedBatchFailsAllItsCallsAndNoOthers() throws Exception {
        CountDownLatch inside = new CountDownLatch(2);
        CountDownLatch go = new CountDownLatch(1);
        RequestCombiner combiner = new RequestCombiner(
                calls -> {
                    inside.countDown();
                    try {
                        assertThat(go.await(40, TimeUnit.SECONDS)).isTrue();
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                    }
                    if (calls.stream().anyMatch(call -> text(call).equals("bad"))) {
                        throw new JedisConnectionException("cut off");
                    }
                    return calls.stream().<Object>map(RequestCombinerTest::text).toList();
                },
                LONG);
        Future<Object> first = threads.submit(() -> combiner.run(call("first")));
        Future<Object> second = threads.submit(() -> combiner.run(call("second")));
        assertThat(inside.await(40, TimeUnit.SECONDS)).isTrue();
        Future<Object> bad = threads.submit(() -> combiner.run(call("bad")));
        go.countDown();
        assertThat(get(first)).isEqualTo("first");
        assertThat(get(second)).isEqualTo("second");
        assertThatThrownBy(() -> get(bad)).hasCauseInstanceOf(JedisException.class);
        assertThat(combiner.run(call("next"))).isEqualTo("next");
    }

    @Test
    void aCallThatNoThreadSendsInTimeIsNeverSent() throws Exception {
        List<String> sent = Collections.synchronizedList(new ArrayList<>());
        CountDownLatch inside = new CountDownLatch(2);
        CountDownLatch go = new CountDownLatch(1);
        RequestCombiner combiner = new RequestCombiner(
                calls -> {
                    calls.forEach(call -> sent.add(text(call)));
                    inside.countDown();
                    try {
                        assertThat(go.await(40, TimeUnit.SECONDS)).isTrue();
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                    }
                    return calls.stream().<Object>map(RequestCombinerTest::text).toList();
                },
                TimeUnit.MILLISECONDS.toNanos(50));
        Future<Object> first = threads.submit(() -> combiner.run(call("first")));
        Future<Object> second = threads.submit(() -> combiner.run(call("second")));
        assertThat(inside.await(40, TimeUnit.SECONDS)).isTrue();
        Thread.currentThread().interrupt(); // which does not matter to it, and is kept
        assertThatThrownBy(() -> combiner.run(call("late"))).isInstanceOf(JedisConnectionException.class);
        assertThat(Thread.interrupted()).isTrue();
        go.countDown();
        assertThat(get(first)).isEqualTo("first");
        assertThat(get(second)).isEqualTo("second");
        assertThat(combiner.run(call("next"))).isEqualTo("next");
        assertThat(sent).containsExactlyInAnyOrder("first", "second", "next");
    }
}
