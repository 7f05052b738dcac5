// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.redis;

import io.lockkeeper.LeaseLost;
import io.lockkeeper.spi.Answer;
import io.lockkeeper.spi.Claim;
import io.lockkeeper.spi.Renewal;
import io.lockkeeper.spi.Renewals;
import io.lockkeeper.spi.StoreTime;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Renewals as calls: first the quick way for every hold, {@code extend.lua}, which needs nothing but its record; then
 * {@code renew.lua} for those that were not so simple, with all keys of their names, and for queued claims, which come after
 * all holds. A call has hundreds of items, or, where a script's keys must be in one slot, those of one bucket.
 */
final class Batch {
    /** A script of this many keeps the server from doing anything else for a millisecond or two. */
    private static final int MOST = 200;

    private final Keys keys;
    private final long incarnation;
    private final boolean byBucket;
    private final Renewals batch;
    private final String[] lines;
    private @Nullable StoreTime at;
    private List<Part> parts;
    private boolean refreshed;

    /** One call: its keys and items, and which items of the batch they are. */
    private final class Part {
        final int slot;
        final Script script;
        final List<byte[]> keysOf = new ArrayList<>();
        final Map<Object, Integer> at = new HashMap<>();
        final List<byte[]> items = new ArrayList<>();
        final List<Integer> numbers = new ArrayList<>();

        Part(int slot, Script script) {
            this.slot = slot;
            this.script = script;
        }

        void extend(int number, Renewals.Hold hold) {
            Claim claim = hold.grant().claim();
            keysOf.add(keys.record(claim.name()));
            items.add(Keys.bytes(claim.id() + " " + Words.micros(hold.lease())));
            numbers.add(number);
        }

        void renew(int number, String kind, Claim claim, String rest) {
            Integer bucket = Keys.bucket(claim.name());
            int floor = at.computeIfAbsent(bucket, b -> append(keys.ofBucket(bucket)));
            int record = at.computeIfAbsent(claim.name(), n -> append(keys.ofName(claim.name())));
            items.add(Keys.bytes(kind + " " + floor + " " + record + " " + claim.id() + " " + rest));
            numbers.add(number);
        }

        /** Keys count from 1 in a script. */
        private int append(List<byte[]> more) {
            keysOf.addAll(more);
            return keysOf.size() - more.size() + 1;
        }
    }

    /** Parts being filled. */
    private final class Parts {
        final List<Part> all = new ArrayList<>();
        private final Map<Object, Part> open = new HashMap<>();

        Part with(Script script, Claim claim) {
            int bucket = Keys.bucket(claim.name());
            Object group = byBucket ? List.of(script, bucket) : script;
            Part part = open.get(group);
            if (part == null || part.items.size() >= MOST) {
                part = new Part(Keys.slot(bucket), script);
                open.put(group, part);
                all.add(part);
            }
            return part;
        }

        void renew(int number) {
            Renewals.Hold hold = batch.holds().get(number);
            Claim claim = hold.grant().claim();
            String tokens = hold.grant().token() + " " + hold.grant().block();
            String rest = Words.micros(hold.lease()) + " " + hold.raiseTo() + " " + tokens;
            with(Script.RENEW, claim).renew(number, "H", claim, rest);
        }

        void refreshAll() {
            refreshed = true;
            int number = batch.holds().size();
            for (Claim claim : batch.queued()) {
                String rest = Words.flag(claim.stray()) + " " + Words.terms(claim, incarnation);
                with(Script.RENEW, claim).renew(number++, "Q", claim, rest);
            }
        }
    }

    Batch(Keys keys, long incarnation, boolean byBucket, Renewals batch) {
        this.keys = keys;
        this.incarnation = incarnation;
        this.byBucket = byBucket;
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

    /** What is to be sent next; nothing when all is done. */
    List<Call> calls() {
        return parts.stream()
                .map(part -> new Call(part.slot, part.script, part.keysOf, part.items))
                .toList();
    }

    /** Takes the answers to those calls. */
    void read(List<Object> answers) {
        Parts next = new Parts();
        for (int p = 0; p < parts.size(); p++) {
            List<?> words = Words.list(answers.get(p));
            at = at == null ? Words.time(Words.text(words.get(0)), incarnation) : at;
            List<Integer> numbers = parts.get(p).numbers;
            for (int i = 0; i < numbers.size(); i++) {
                String line = Words.text(words.get(i + 1));
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

    /** What became of all of it, in the order of the batch. */
    Renewal renewal() {
        List<Renewal.Outcome> holds = new ArrayList<>();
        List<Answer> queued = new ArrayList<>();
        for (String line : lines) {
            if (holds.size() < batch.holds().size()) {
                holds.add(
                        line.startsWith("K ")
                                ? new Renewal.Kept(Words.duration(line.substring(2)))
                                : new Renewal.Lost(LeaseLost.Reason.valueOf(line.substring(2))));
            } else {
                queued.add(Words.answer(line, incarnation));
            }
        }
        return new Renewal(holds, queued, at == null ? new StoreTime(incarnation, 0) : at);
    }
}
