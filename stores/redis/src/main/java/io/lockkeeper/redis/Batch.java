// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.redis;

import io.lockkeeper.LeaseLost;
import io.lockkeeper.spi.Answer;
import io.lockkeeper.spi.Claim;
import io.lockkeeper.spi.Renewal;
import io.lockkeeper.spi.Renewals;
import io.lockkeeper.spi.StoreTime;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Renewals as calls of {@code renew.lua}: hundreds of holds each, or, where a script's keys must be in one slot, those of one
 * bucket.
 */
final class Batch {
    /** A script of this many keeps the server from doing anything else for a millisecond or two. */
    private static final int MOST = 200;

    private final Keys keys;
    private final long incarnation;
    private final boolean byBucket;
    private final List<Part> parts = new ArrayList<>();

    /** One call: its keys and items, and which items of the batch they are. */
    private final class Part {
        final int slot;
        final List<byte[]> keysOf = new ArrayList<>();
        final Map<Object, Integer> at = new LinkedHashMap<>();
        final List<byte[]> items = new ArrayList<>();
        final List<Integer> numbers = new ArrayList<>();

        Part(int slot) {
            this.slot = slot;
        }

        void add(int number, String kind, Claim claim, String rest) {
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

    Batch(Keys keys, long incarnation, boolean byBucket, Renewals batch) {
        this.keys = keys;
        this.incarnation = incarnation;
        this.byBucket = byBucket;
        Map<Integer, Part> open = new LinkedHashMap<>();
        int number = 0;
        for (Renewals.Hold hold : batch.holds()) {
            Claim claim = hold.grant().claim();
            String tokens = hold.grant().token() + " " + hold.grant().block();
            String rest = Words.micros(hold.lease()) + " " + hold.raiseTo() + " " + tokens;
            part(open, claim).add(number++, "H", claim, rest);
        }
        for (Claim claim : batch.queued()) {
            String rest = Words.flag(claim.stray()) + " " + Words.terms(claim, incarnation);
            part(open, claim).add(number++, "Q", claim, rest);
        }
    }

    private Part part(Map<Integer, Part> open, Claim claim) {
        int bucket = Keys.bucket(claim.name());
        Part part = open.get(byBucket ? bucket : -1);
        if (part == null || part.items.size() >= MOST) {
            part = new Part(Keys.slot(bucket));
            open.put(byBucket ? bucket : -1, part);
            parts.add(part);
        }
        return part;
    }

    List<Call> calls() {
        return parts.stream()
                .map(part -> new Call(part.slot, Script.RENEW, part.keysOf, part.items))
                .toList();
    }

    /** What the calls were answered, in the order of the batch. */
    Renewal read(Renewals batch, List<Object> answers) {
        String[] lines = new String[batch.holds().size() + batch.queued().size()];
        StoreTime at = null;
        for (int p = 0; p < parts.size(); p++) {
            List<?> words = Words.list(answers.get(p));
            at = at == null ? Words.time(Words.text(words.get(0)), incarnation) : at;
            List<Integer> numbers = parts.get(p).numbers;
            for (int i = 0; i < numbers.size(); i++) {
                lines[numbers.get(i)] = Words.text(words.get(i + 1));
            }
        }
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
