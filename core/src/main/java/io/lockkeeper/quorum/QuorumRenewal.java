// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.quorum;

import io.lockkeeper.spi.Answer;
import io.lockkeeper.spi.Claim;
import io.lockkeeper.spi.Grant;
import io.lockkeeper.spi.LockStore;
import io.lockkeeper.spi.Renewal;
import io.lockkeeper.spi.Renewals;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Renews holds at all members, hundreds in a request: one with thousands would take longer than members are waited for. A hold
 * goes on as long as a majority surely holds it; a member that did not answer does so until the end that it last gave.
 *
 * <p>A hold that a majority has just kept is also claimed where it is missing: at a member that was down, or has lost its
 * memory. That only shuts others out, so it is right whatever the member has forgotten; and a hold that is kept for long
 * outlives the restart of all members, one after the other. The claim's deadline is well before the kept leases end.
 * It is not claimed at a member that has broken it: a request to break a hold reaches members one after the other, and would
 * otherwise be undone at the first before it has reached the last.
 */
final class QuorumRenewal {
    /** A member renews this many within some ten milliseconds; built in, it is waited for 250. */
    private static final int MOST = 500;

    private final Ensemble all;

    QuorumRenewal(Ensemble all) {
        this.all = all;
    }

    private record Item(Renewals.Hold hold, QuorumHold quorumHold) {}

    Renewal run(Renewals batch) {
        List<Renewal.Outcome> outcomes = new ArrayList<>();
        for (int from = 0; from < batch.holds().size(); from += MOST) {
            int to = Math.min(from + MOST, batch.holds().size());
            outcomes.addAll(renew(batch.holds().subList(from, to)));
        }
        List<Answer> queued = new ArrayList<>();
        for (Claim claim : batch.queued()) {
            queued.add(new Repeat(all).standing(claim)); // none waits here, but one may have been granted
        }
        return new Renewal(outcomes, queued, all.time());
    }

    private List<Renewal.Outcome> renew(List<Renewals.Hold> holds) {
        List<Item> items = new ArrayList<>();
        for (Renewals.Hold hold : holds) {
            QuorumHold known = all.quorumHolds().get(hold.grant().claim().id());
            items.add(new Item(hold, known != null ? known : QuorumHold.assumed(hold.grant(), all.size())));
        }
        long began = all.now();
        all.askMajority(Member.Kind.RENEWAL, "a renewal", member -> renewAt(member, items, began));
        List<Renewal.Outcome> outcomes = new ArrayList<>();
        for (Item item : items) {
            outcomes.add(outcome(item, began));
        }
        return outcomes;
    }

    private Renewal.Outcome outcome(Item item, long began) {
        QuorumHold quorumHold = item.quorumHold;
        long end = quorumHold.end();
        if (end <= all.now()) {
            return quorumHold.loss();
        }
        if (!quorumHold.isOver()) {
            all.quorumHolds().putIfAbsent(quorumHold.claim().id(), quorumHold);
            heal(item);
        }
        quorumHold.report(end);
        return new Renewal.Kept(Duration.ofNanos(end - began));
    }

    /** Renews what this member was sent, one request for each of its lanes. */
    private boolean renewAt(Member member, List<Item> items, long began) {
        LockStore store = member.store();
        Map<Object, List<Item>> byLane = new LinkedHashMap<>();
        for (Item item : items) {
            if (all.grantAt(member, item.quorumHold) != null) {
                Object lane = store.lane(item.quorumHold.claim().name());
                byLane.computeIfAbsent(lane, l -> new ArrayList<>()).add(item);
            }
        }
        for (List<Item> lane : byLane.values()) {
            List<Renewals.Hold> holds = new ArrayList<>();
            List<QuorumHold> quorumHolds = new ArrayList<>();
            for (Item item : lane) {
                Grant grant = item.quorumHold.grantAt(member.number());
                if (grant != null) { // nor has it become so since
                    long raiseTo = Math.max(item.hold.raiseTo(), item.quorumHold.toWrite(member.number()));
                    holds.add(new Renewals.Hold(grant, item.hold.lease(), raiseTo));
                    quorumHolds.add(item.quorumHold);
                }
            }
            if (holds.isEmpty()) {
                continue;
            }
            Renewals request = new Renewals(holds, List.of());
            String name = lane.get(0).quorumHold.claim().name();
            Renewal renewal = member.step(name, s -> s.renew(request), Renewal::at);
            for (int i = 0; i < holds.size(); i++) {
                boolean wrote = holds.get(i).raiseTo() > 0;
                all.note(member, quorumHolds.get(i), renewal.holds().get(i), began, wrote);
            }
        }
        if (all.markers().sitsOut(member)) {
            all.markers().look(member); // also a client that only renews ends the sitting out
        }
        return true;
    }

    /** Claims the hold where it is missing; nobody waits for that. */
    private void heal(Item item) {
        for (Member member : all.members()) {
            if (item.quorumHold.isMissingAt(member.number(), all.now())) {
                member.execute(Member.Kind.STEP, () -> all.quietly(() -> healAt(member, item)), why -> {});
            }
        }
    }

    private void healAt(Member member, Item item) {
        QuorumHold quorumHold = item.quorumHold;
        long left = Math.min(quorumHold.end() - all.now(), 2 * all.patience()) / 2;
        if (left <= 0 || !quorumHold.isMissingAt(member.number(), all.now())) {
            return;
        }
        Claim own = quorumHold.claim();
        // A copy of an earlier claim may be on its way; and this one is, until it is answered.
        Claim again = member.address(
                new Claim(own.name(), own.id(), quorumHold.terms(), all.time().plusMicros(left / 1_000), true));
        if (!quorumHold.begin(member.number(), again)) {
            return;
        }
        Answer answer = member.step(own.name(), store -> store.claim(again), Answer::at);
        quorumHold.answered(member.number(), answer instanceof Answer.Refused);
        all.markers().tend(member);
        if (answer instanceof Answer.Granted) {
            all.writeAt(member, quorumHold, item.hold.lease(), all.now());
        }
    }
}
