// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.redis;

import io.lockkeeper.LockInfo;
import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.redis.server.Call;
import io.lockkeeper.redis.server.Failures;
import io.lockkeeper.redis.server.Node;
import io.lockkeeper.redis.server.Replicas;
import io.lockkeeper.redis.server.Reply;
import io.lockkeeper.redis.server.Servers;
import io.lockkeeper.spi.NameCodec;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.stream.IntStream;

/**
 * Inspects names in use. The hash in which a bucket keeps its records is the index of its names, so a listing asks each
 * of the 256 buckets and no other key of the server, then inspects the names that were found. The index has no order,
 * so the servers go through all of it; but they send, and a listing keeps and looks at, hardly more names than are
 * listed: a few buckets are asked first, and the others only for what comes before the last name that is still wanted.
 *
 * <p>What is damaged, or was put there by others, is skipped, and named in the log once; all other names are listed.
 */
final class NameScan {
    private static final System.Logger LOG = System.getLogger("io.lockkeeper.redis");
    private static final int NAMES_AT_ONCE = 100;
    private static final int FIRST_BUCKETS = 8;

    /** How many more names than wanted are collected, because some may turn out to be out of use. */
    private static final int SPARE = 16;

    /** How many different complaints are remembered; more would only fill the memory. */
    private static final int MOST_COMPLAINTS = 1_000;

    private final Servers servers;
    private final Keys keys;
    private final Set<String> complaints = ConcurrentHashMap.newKeySet();

    /** Where the listing of a bucket continues. */
    private record Page(int bucket, String cursor) {}

    NameScan(Servers servers, Keys keys) {
        this.servers = servers;
        this.keys = keys;
    }

    Optional<NameSnapshot> look(String name) {
        return snapshot(name, servers.run(call(name), Node.Priority.PLAIN, Replicas.NONE));
    }

    /** Who holds a name, without the queue. */
    Optional<NameSnapshot> holders(String name) {
        Object answer = servers.run(Calls.check(keys, name, false), Node.Priority.PLAIN, Replicas.NONE);
        return snapshot(
                name,
                Script.needsMore(answer)
                        ? servers.run(Calls.check(keys, name, true), Node.Priority.PLAIN, Replicas.NONE)
                        : answer);
    }

    private Optional<NameSnapshot> snapshot(String name, Object answer) {
        return NameSnapshot.of(name, answer, e -> servers.damaged(call(name), e));
    }

    private Call call(String name) {
        return Calls.onName(keys, name, Script.INSPECT);
    }

    List<LockInfo> list(String prefix, int limit) {
        List<LockInfo> found = new ArrayList<>();
        String after = "";
        for (int most = limit + SPARE; ; most *= 2) {
            FirstNames names = names(prefix, new FirstNames(after, most));
            lookAt(names.inOrder(), limit, found);
            if (found.size() >= limit || !names.isFull()) {
                return List.copyOf(found.subList(0, Math.min(limit, found.size())));
            }
            after = names.last(); // too many of them were out of use or damaged
        }
    }

    /** Looks at these, until enough are found to be in use. */
    private void lookAt(List<String> names, int limit, List<LockInfo> found) {
        int next;
        for (int from = 0; from < names.size() && found.size() < limit; from = next) {
            next = Math.min(names.size(), from + (from == 0 ? Math.min(limit, NAMES_AT_ONCE) : NAMES_AT_ONCE));
            forEach(
                    names.subList(from, next),
                    this::call,
                    (name, answer) -> snapshot(name, answer)
                            .flatMap(NameSnapshot::describe)
                            .ifPresent(found::add),
                    name -> "the record of " + NameCodec.encode(name));
        }
    }

    /** Collects names in use that begin with a prefix. */
    private FirstNames names(String prefix, FirstNames names) {
        // A code has no character that means anything in a pattern.
        byte[] pattern = Keys.bytes(NameCodec.encode(prefix) + "*");
        List<Page> pages = IntStream.range(0, Keys.BUCKETS)
                .mapToObj(bucket -> new Page(bucket, "0"))
                .toList();
        for (int atOnce = FIRST_BUCKETS; !pages.isEmpty(); atOnce = Math.min(Keys.BUCKETS, atOnce * FIRST_BUCKETS)) {
            byte[] last = names.bound();
            List<Page> now = pages.subList(0, Math.min(atOnce, pages.size()));
            List<Page> next = new ArrayList<>(pages.subList(now.size(), pages.size()));
            forEach(
                    now,
                    page -> new Call(
                            Keys.slot(page.bucket),
                            Script.NAMES,
                            List.of(keys.names(page.bucket)),
                            List.of(Keys.bytes(page.cursor), pattern, last)),
                    (page, answer) -> {
                        List<?> words = Reply.list(answer);
                        for (Object code : words.subList(1, words.size())) {
                            add(new String((byte[]) code, StandardCharsets.ISO_8859_1), page.bucket, names);
                        }
                        String cursor = Reply.text(words.get(0));
                        if (!cursor.equals("0")) {
                            next.add(new Page(page.bucket, cursor));
                        }
                    },
                    page -> new String(keys.names(page.bucket), StandardCharsets.ISO_8859_1));
            pages = next;
        }
        return names;
    }

    private void add(String code, int bucket, FirstNames names) {
        Optional<String> name = NameCodec.read(code).filter(n -> Keys.bucket(n) == bucket);
        if (name.isPresent()) {
            names.add(name.get());
        } else {
            complain("the field " + NameCodec.encode(code), "it is not a name of this bucket");
        }
    }

    /**
     * Asks for each of these, all in one request if nothing is wrong with any of them, and otherwise for one after the
     * other.
     */
    private <T> void forEach(
            List<T> all, Function<T, Call> question, BiConsumer<T, Object> reader, Function<T, String> what) {
        List<Object> answers = null;
        try {
            answers = servers.runAll(all.stream().map(question).toList(), Node.Priority.PLAIN, Replicas.NONE);
        } catch (StoreUnavailableException e) {
            if (!Failures.isOfOneRecord(e)) {
                throw e;
            }
        }
        for (int i = 0; i < all.size(); i++) {
            T one = all.get(i);
            try {
                reader.accept(
                        one,
                        answers != null
                                ? answers.get(i)
                                : servers.run(question.apply(one), Node.Priority.PLAIN, Replicas.NONE));
            } catch (StoreUnavailableException e) {
                if (!Failures.isOfOneRecord(e)) {
                    throw e;
                }
                complain(what.apply(one), String.valueOf(e.getMessage()));
            }
        }
    }

    private void complain(String what, String why) {
        if (complaints.size() < MOST_COMPLAINTS && complaints.add(what)) {
            LOG.log(System.Logger.Level.WARNING, "Skipped {0} in a listing: {1}", what, why);
        }
    }
}
