// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.redis;

import io.lockkeeper.LeaseLost;
import io.lockkeeper.redis.server.Call;
import io.lockkeeper.redis.server.Reply;
import io.lockkeeper.spi.Answer;
import io.lockkeeper.spi.Claim;
import io.lockkeeper.spi.NameCodec;
import io.lockkeeper.spi.Renewal;
import io.lockkeeper.spi.Renewals;
import io.lockkeeper.spi.StoreTime;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Renewals as calls: first the fast path for every hold, {@code extend.lua}, which needs nothing but the records; then
 * {@code renew.lua} for those that were not that simple, with all keys of their names, and for queued claims, which
 * come after all holds. A call has the items of one bucket, hundreds at most: all its keys are in one slot, also where
 * a proxy or a Cluster looks like a single server. Items of one name are in one call, next to each other, so that the
 * name is loaded once.
 */
final class RedisRenewal {
    /** A script for this many items keeps the server from doing anything else for a millisecond or two. */
    private static final int MOST = 200;

    private final Keys keys;
    private final long incarnation;
    private final Renewals batch;
    private final String[] lines;
    private @Nullable StoreTime at;
    private List<Part> parts;
    private boolean refreshed;

    /** One call: the names and items that it concerns, and which items of the batch they are. */
    private final class Part {
        final int bucket;
        final Script script;
        final Map<String, Integer> names = new HashMap<>();
        final List<byte[]> keysOf = new ArrayList<>();
        final List<byte[]> codes = new ArrayList<>();
        final List<byte[]> items = new ArrayList<>();
        final List<Integer> numbers = new ArrayList<>();

        Part(int bucket, Script script) {
            this.bucket = bucket;
            this.script = script;
            keysOf.addAll(script == Script.EXTEND ? List.of(keys.names(bucket)) : keys.ofBucket(bucket));
        }

        void extend(int number, Renewals.Hold hold) {
            Claim claim = hold.grant().claim();
            items.add(Keys.bytes(NameCodec.encode(claim.name())));
            items.add(Keys.bytes(claim.id().toString()));
            items.add(Keys.bytes(Long.toString(ScriptProtocol.micros(hold.lease()))));
            numbers.add(number);
        }

        void renew(int number, String kind, Claim claim, String rest) {
            int name = names.computeIfAbsent(claim.name(), n -> {
                keysOf.addAll(keys.ofName(n));
                codes.add(Keys.bytes(NameCodec.encode(n)));
                return codes.size();
            });
            items.add(Keys.bytes(kind + " " + name + " " + claim.id() + " " + rest));
            numbers.add(number);
        }

        Call call() {
            List<byte[]> arguments = new ArrayList<>(1 + codes.size() + items.size());
            if (script == Script.RENEW) {
                arguments.add(Keys.bytes(Integer.toString(codes.size())));
                arguments.addAll(codes);
            }
            arguments.addAll(items);
            return new Call(Keys.slot(bucket), script, keysOf, arguments);
        }
    }

    /** Parts being filled. */
    private final class Parts {
        final List<Part> all = new ArrayList<>();
        private final Map<Object, Part> open = new HashMap<>();

        Part with(Script script, Claim claim) {
            int bucket = Keys.bucket(claim.name());
            Object group = List.of(script, bucket);
            Part part = open.get(group);
            if (part == null || part.numbers.size() >= MOST) {
                part = new Part(bucket, script);
                open.put(group, part);
                all.add(part);
            }
            return part;
        }

        void renew(int number) {
            Renewals.Hold hold = batch.holds().get(number);
            Claim claim = hold.grant().claim();
            String tokens = hold.grant().token() + " " + hold.grant().block();
            String rest = ScriptProtocol.micros(hold.lease()) + " " + hold.raiseTo() + " " + tokens;
            with(Script.RENEW, claim).renew(number, "H", claim, rest);
        }

        void refreshAll() {
            refreshed = true;
            int number = batch.holds().size();
            for (Claim claim : batch.queued()) {
                with(Script.RENEW, claim).renew(number++, "Q", claim, ScriptProtocol.refresh(claim, incarnation));
            }
        }
    }

    RedisRenewal(Keys keys, long incarnation, Renewals batch) {
        this.keys = keys;
        this.incarnation = incarnation;
        this.batch = batch;
        this.lines = new String[batch.holds().size() + batch.queued().size()];
        Parts first = new Parts();
        int number = 0;
        for (Renewals.Hold hold : batch.holds()) {
            if (hold.raiseTo() == 0) {
                first.with(Script.EXTEND, hold.grant().claim()).extend(number, hold);
            } else {
                first.renew(number);
            }
            number++;
        }
        if (batch.holds().isEmpty()) {
            first.refreshAll();
        }
        parts = first.all;
    }

    /** The calls to send next; empty when everything is done. */
    List<Call> calls() {
        return parts.stream().map(Part::call).toList();
    }

    /** Takes the answers to those calls. */
    void read(List<Object> answers) {
        Parts next = new Parts();
        for (int p = 0; p < parts.size(); p++) {
            List<?> words = Reply.list(answers.get(p));
            at = at == null ? ScriptProtocol.time(Reply.text(words.get(0)), incarnation) : at;
            List<Integer> numbers = parts.get(p).numbers;
            for (int i = 0; i < numbers.size(); i++) {
                String line = Reply.text(words.get(i + 1));
                if (line.equals("M")) {
                    next.renew(numbers.get(i));
                } else {
                    lines[numbers.get(i)] = line;
                }
            }
        }
        if (!refreshed) {
            next.refreshAll();
        }
        parts = next.all;
    }

    private static Renewal.Outcome outcome(String line) {
        return switch (line.charAt(0)) {
            case 'K' -> new Renewal.Kept(ScriptProtocol.duration(line.substring(2)));
            case 'R' -> new Renewal.Recalled();
            default -> new Renewal.Lost(LeaseLost.Reason.valueOf(line.substring(2)));
        };
    }

    /** The outcome of all items, in the order of the batch. */
    Renewal renewal() {
        List<Renewal.Outcome> holds = new ArrayList<>();
        List<Answer> queued = new ArrayList<>();
        for (String line : lines) {
            if (holds.size() < batch.holds().size()) {
                holds.add(outcome(line));
            } else {
                queued.add(ScriptProtocol.answer(line, incarnation));
            }
        }
        return new Renewal(holds, queued, at == null ? new StoreTime(incarnation, 0) : at);
    }
}
