// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.model;

import io.lockkeeper.LeaseLost.Reason;
import io.lockkeeper.LockInfo;
import io.lockkeeper.Mode;
import io.lockkeeper.Sequencer;
import io.lockkeeper.spi.Answer;
import io.lockkeeper.spi.Claim;
import io.lockkeeper.spi.ClaimId;
import io.lockkeeper.spi.Grant;
import io.lockkeeper.spi.Renewal;
import io.lockkeeper.spi.Renewals;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * One name: who holds it, who waits, until when it is closed, and the rules by which that changes. A store that keeps this
 * state elsewhere can load it, apply a rule, and write back what has changed.
 *
 * <p>Invariants, after every command: holders do not conflict; the head of the queue cannot be granted (it conflicts, or
 * the name is closed); a hold handed over from the queue is unconfirmed until its first renewal.
 */
public final class NameState {
    /** How long after the one before it a waiter looks whether the name has opened, in µs. */
    private static final long BETWEEN_LOOKS = 100_000;

    private final String name;
    private final List<Held> holders = new ArrayList<>(1);
    private final Map<ClaimId, Waiting> queue = new LinkedHashMap<>(0);
    private long closedUntil;

    /** A name that nobody uses. */
    public NameState(String name) {
        this.name = name;
    }

    /** A name as it was found: its holders, those who wait, in order, and until when it is closed. */
    public NameState(String name, List<Held> holders, List<Waiting> queue, long closedUntil) {
        this.name = name;
        this.holders.addAll(holders);
        queue.forEach(w -> this.queue.put(w.claim.id(), w));
        this.closedUntil = closedUntil;
    }

    /** Who holds it. */
    public List<Held> holders() {
        return List.copyOf(holders);
    }

    /** Who waits, in order. */
    public List<Waiting> queue() {
        return List.copyOf(queue.values());
    }

    /** Until when it is closed, in µs of store time. */
    public long closedUntil() {
        return closedUntil;
    }

    NameState copy() {
        NameState copy = new NameState(name);
        holders.forEach(h -> copy.holders.add(h.copy()));
        queue.forEach((id, w) -> copy.queue.put(id, new Waiting(w.claim, w.until)));
        copy.closedUntil = closedUntil;
        return copy;
    }

    String name() {
        return name;
    }

    /** Whether nothing needs to be kept of it. */
    public boolean isIdle(long now) {
        return holders.isEmpty() && queue.isEmpty() && closedUntil <= now;
    }

    // ---- The commands. Each first catches up with what is overdue. ----

    /** A claim: a known id is answered as it stands, a remembered or late one refused, a new one granted or queued. */
    public Answer claim(Claim claim, Ledger ledger) {
        catchUp(ledger);
        Answer known = standing(claim, ledger);
        if (known != null) {
            return known;
        }
        if (ledger.remembers(claim.id())) {
            return refused(Answer.Why.GONE, "", ledger);
        }
        if (claim.deadline().isPast(ledger.time())) {
            return refused(Answer.Why.LATE, "", ledger);
        }
        return enter(claim, ledger);
    }

    /** Lengthens and confirms a hold. */
    public Renewal.Outcome renew(Renewals.Hold renewal, Ledger ledger) {
        catchUp(ledger);
        ClaimId id = renewal.grant().claim().id();
        Held held = find(id);
        if (held == null) {
            return new Renewal.Lost(ledger.remembersBroken(id) ? Reason.BROKEN : Reason.EXPIRED);
        }
        if (held.isRecalled()) {
            return new Renewal.Recalled();
        }
        long now = ledger.time().micros();
        if (renewal.raiseTo() > 0) {
            held.token = renewal.grant().token();
            held.block = renewal.grant().block();
        }
        held.confirmed = true;
        held.expires = Math.max(held.expires, now + micros(renewal.lease()));
        return new Renewal.Kept(held.left(now));
    }

    /** Keeps a place in the queue, and says where the claim stands. */
    public Answer refresh(Claim claim, Ledger ledger) {
        catchUp(ledger);
        Waiting waiting = queue.get(claim.id());
        if (waiting != null) {
            waiting.until = ledger.time().micros() + micros(claim.terms().patience());
        }
        Answer standing = standing(claim, ledger);
        return standing == null ? refused(Answer.Why.GONE, "", ledger) : standing;
    }

    /** Ends a hold, or acknowledges that it is broken. */
    public boolean release(Claim claim, Ledger ledger) {
        catchUp(ledger);
        return end(claim, ledger);
    }

    /** Leaves the queue, or gives back what was granted meanwhile. */
    public boolean withdraw(Claim claim, Ledger ledger) {
        catchUp(ledger);
        if (queue.remove(claim.id()) == null) {
            return end(claim, ledger);
        }
        rememberIfStray(claim, ledger);
        handOver(ledger);
        return true;
    }

    /** Turns an exclusive hold into a shared one. */
    public Optional<Grant> downgrade(Grant grant, Ledger ledger) {
        catchUp(ledger);
        Held held = find(grant.claim().id());
        if (held == null || held.isRecalled()) {
            return Optional.empty();
        }
        if (held.mode == Mode.EXCLUSIVE) {
            boolean hasNext = grant.block() > 1;
            held.mode = Mode.SHARED;
            held.token = hasNext ? grant.token() + 1 : ledger.draw(1).first();
            held.block = hasNext ? grant.block() - 1 : 1;
            handOver(ledger);
        }
        return Optional.of(new Grant(grant.claim(), held.mode, held.token, held.block));
    }

    /** Breaks the hold that has this token; see {@link io.lockkeeper.spi.LockStore#breakHold}. */
    public boolean breakHold(long token, Duration lockDelay, boolean atOnce, Ledger ledger) {
        catchUp(ledger);
        for (Held held : holders) {
            if (held.covers(token)) {
                held.recalledDelay = Math.max(held.recalledDelay, micros(lockDelay));
                if (atOnce) {
                    ledger.tell(new Signal.Lost(held.claim.id(), Reason.BROKEN));
                    ledger.rememberBroken(held.claim.id(), held.expires);
                    end(held.claim, ledger);
                } else {
                    ledger.tell(new Signal.Recalled(held.claim.id()));
                }
                return true;
            }
        }
        return false;
    }

    // ---- Looking, which changes nothing ----

    /** Whether the hold that the sequencer names is in force. */
    public boolean has(Sequencer sequencer, long now) {
        return NameDescription.has(holders, sequencer, now);
    }

    /** What there is to see now, of holds that have not expired; empty if that is nothing. */
    public Optional<LockInfo> describe(long now) {
        return NameDescription.of(name, holders, queue.values(), closedUntil, now);
    }

    // ---- The rules ----

    /** Ends what is overdue, and grants what can be granted. */
    public void catchUp(Ledger ledger) {
        long now = ledger.time().micros();
        for (Iterator<Held> all = holders.iterator(); all.hasNext(); ) {
            Held held = all.next();
            if (held.expires <= now) {
                all.remove();
                expire(held, ledger);
            }
        }
        if (!queue.isEmpty()) {
            dropFromQueue(waiting -> waiting.until <= now, ledger);
            handOver(ledger);
        }
    }

    private void expire(Held held, Ledger ledger) {
        closedUntil = Math.max(closedUntil, held.closesUntil());
        if (!held.isRecalled() && !held.confirmed) {
            // The client never took its grant up, so it is dead or cut off: do not try its other claims one by one,
            // nor those of clients that have been silent since.
            String client = held.claim.id().client();
            long now = ledger.time().micros();
            dropFromQueue(
                    waiting -> waiting.claim.id().client().equals(client) || waiting.isSilent(held.since, now), ledger);
        }
        rememberIfStray(held.claim, ledger);
        ledger.tell(new Signal.Lost(held.claim.id(), held.isRecalled() ? Reason.BROKEN : Reason.EXPIRED));
    }

    private void dropFromQueue(Predicate<Waiting> which, Ledger ledger) {
        queue.values().removeIf(waiting -> {
            boolean goes = which.test(waiting);
            if (goes) {
                rememberIfStray(waiting.claim, ledger);
            }
            return goes;
        });
    }

    private void handOver(Ledger ledger) {
        for (Iterator<Waiting> all = queue.values().iterator(); all.hasNext(); ) {
            Claim claim = all.next().claim;
            if (!isOpenTo(claim, ledger.time().micros())) {
                return;
            }
            all.remove();
            Held held = admit(claim, ledger, micros(claim.terms().firstLease()), false);
            ledger.tell(new Signal.Granted(claim.id(), granted(held, ledger)));
        }
    }

    private boolean isOpenTo(Claim claim, long now) {
        if (now < closedUntil) {
            return false;
        }
        return switch (claim.terms().mode()) {
            case EXCLUSIVE -> holders.isEmpty();
            case SHARED -> holders.stream().allMatch(held -> held.mode == Mode.SHARED);
            case PERMITS ->
                permitsTaken() + claim.terms().permits() <= claim.terms().limit();
        };
    }

    private long permitsTaken() {
        return holders.stream().mapToLong(held -> held.claim.terms().permits()).sum();
    }

    private Held admit(Claim claim, Ledger ledger, long lease, boolean confirmed) {
        Ledger.Tokens drawn = ledger.draw(Math.max(1, claim.terms().block()));
        long now = ledger.time().micros();
        Held held = new Held(
                claim,
                claim.terms().mode(),
                drawn.first(),
                drawn.count(),
                now,
                now + lease,
                confirmed,
                Held.NOT_RECALLED);
        holders.add(held);
        return held;
    }

    /** Where a claim that is known already stands; null when it is not. */
    private @Nullable Answer standing(Claim claim, Ledger ledger) {
        Held held = find(claim.id());
        if (held != null) {
            held.claim = claim.stray() ? held.claim.asStray() : held.claim;
            return granted(held, ledger);
        }
        Waiting waiting = queue.get(claim.id());
        if (waiting == null) {
            return null;
        }
        waiting.claim = claim.stray() ? waiting.claim.asStray() : waiting.claim;
        return queued(waiting, ahead(waiting), ledger);
    }

    private Answer enter(Claim claim, Ledger ledger) {
        long now = ledger.time().micros();
        Claim other = anyUse();
        if (other != null && !other.terms().agreesWith(claim.terms())) {
            int limit = other.terms().limit();
            String use = other.terms().mode() == Mode.PERMITS ? "a semaphore of " + limit : "a lock";
            return refused(Answer.Why.CONFLICT, use, ledger);
        }
        if (queue.isEmpty() && isOpenTo(claim, now)) {
            return granted(admit(claim, ledger, micros(claim.terms().lease()), true), ledger);
        }
        if (!claim.terms().queue()) {
            return refused(Answer.Why.BUSY, "", ledger);
        }
        Waiting waiting = new Waiting(claim, now + micros(claim.terms().patience()));
        queue.put(claim.id(), waiting);
        return queued(waiting, queue.size() - 1, ledger);
    }

    private boolean end(Claim claim, Ledger ledger) {
        rememberIfStray(claim, ledger);
        Held held = find(claim.id());
        if (held == null) {
            return false;
        }
        holders.remove(held);
        rememberIfStray(held.claim, ledger);
        if (held.isRecalled()) {
            closedUntil = Math.max(closedUntil, ledger.time().micros() + held.recalledDelay);
        }
        handOver(ledger);
        return true;
    }

    private static void rememberIfStray(Claim claim, Ledger ledger) {
        if (claim.stray()) {
            ledger.remember(claim.id(), claim.deadline());
        }
    }

    private @Nullable Claim anyUse() {
        if (!holders.isEmpty()) {
            return holders.get(0).claim;
        }
        return queue.isEmpty() ? null : queue.values().iterator().next().claim;
    }

    private @Nullable Held find(ClaimId id) {
        for (Held held : holders) {
            if (held.claim.id().equals(id)) {
                return held;
            }
        }
        return null;
    }

    private int ahead(Waiting waiting) {
        int ahead = 0;
        for (Waiting other : queue.values()) {
            if (other == waiting) {
                break;
            }
            ahead++;
        }
        return ahead;
    }

    private static Answer refused(Answer.Why why, String detail, Ledger ledger) {
        return new Answer.Refused(why, detail, Duration.ZERO, ledger.time());
    }

    private static Answer.Granted granted(Held held, Ledger ledger) {
        return new Answer.Granted(
                held.token, held.block, held.left(ledger.time().micros()), held.confirmed, ledger.time());
    }

    private Answer.Queued queued(Waiting waiting, int ahead, Ledger ledger) {
        // All look again when the name may open, the head at once and the others one after the other: those ahead may
        // be dead.
        long slow = micros(waiting.claim.terms().patience()) / 3;
        long wait = Math.min(slow, opensIn(ledger.time().micros()) + ahead * BETWEEN_LOOKS);
        return new Answer.Queued(ahead, Duration.of(wait, ChronoUnit.MICROS), ledger.time());
    }

    private long opensIn(long now) {
        long opens = holders.isEmpty() ? closedUntil : Long.MAX_VALUE;
        for (Held held : holders) {
            opens = Math.min(opens, held.expires);
        }
        return Math.max(0, opens - now);
    }

    /** A duration in µs. */
    public static long micros(Duration d) {
        return d.toNanos() / 1_000;
    }
}
