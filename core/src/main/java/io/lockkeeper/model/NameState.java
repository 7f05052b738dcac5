// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.model;

import static io.lockkeeper.model.Model.micros;

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
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * One name: who holds it, who waits, until when it is closed.
 *
 * <p>Invariants, after every command: holders do not conflict; the head of the queue cannot be let in (it conflicts, or
 * the name is closed); a hold handed over from the queue is unconfirmed until its first renewal.
 */
final class NameState {
    private final String name;
    private final List<Held> holders = new ArrayList<>(1);
    private final Map<ClaimId, Waiting> queue = new LinkedHashMap<>(0);
    private long closedUntil;

    private static final class Held {
        final Claim claim;
        Mode mode;
        long token;
        int block;
        final long since;
        long expires;
        boolean confirmed;
        /** Not negative while the hold is being broken: the lock-delay to keep after it. */
        long recalledDelay = -1;

        Held(Claim claim, Mode mode, long token, int block, long since, long expires, boolean confirmed) {
            this.claim = claim;
            this.mode = mode;
            this.token = token;
            this.block = block;
            this.since = since;
            this.expires = expires;
            this.confirmed = confirmed;
        }

        Held copy() {
            Held copy = new Held(claim, mode, token, block, since, expires, confirmed);
            copy.recalledDelay = recalledDelay;
            return copy;
        }

        boolean covers(long candidate) {
            return candidate >= token && candidate - token < block;
        }
    }

    private static final class Waiting {
        final Claim claim;
        long until;

        Waiting(Claim claim, long until) {
            this.claim = claim;
            this.until = until;
        }
    }

    NameState(String name) {
        this.name = name;
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

    boolean isIdle(long now) {
        return holders.isEmpty() && queue.isEmpty() && closedUntil <= now;
    }

    /** Ends what is overdue and lets in whoever can be let in. */
    void catchUp(Model model, long now) {
        for (Iterator<Held> all = holders.iterator(); all.hasNext(); ) {
            Held held = all.next();
            if (held.expires <= now) {
                all.remove();
                expire(held, model);
            }
        }
        if (!queue.isEmpty()) {
            queue.values().removeIf(w -> {
                boolean vanished = w.until <= now;
                if (vanished && w.claim.stray()) {
                    model.remember(w.claim);
                }
                return vanished;
            });
            handOver(model, now);
        }
    }

    private void expire(Held held, Model model) {
        if (held.recalledDelay >= 0) {
            close(held.expires + held.recalledDelay);
        } else if (held.confirmed) {
            close(held.expires + micros(held.claim.terms().lockDelay()));
        } else {
            // The client never took its grant up, so it is dead or cut off: do not try its other claims one by one.
            String client = held.claim.id().client();
            queue.keySet().removeIf(id -> id.client().equals(client));
        }
        if (held.claim.stray()) {
            model.remember(held.claim);
        }
        model.tell(new Signal.Lost(held.claim.id(), held.recalledDelay >= 0 ? Reason.BROKEN : Reason.EXPIRED));
    }

    private void close(long until) {
        closedUntil = Math.max(closedUntil, until);
    }

    private void handOver(Model model, long now) {
        for (Iterator<Waiting> all = queue.values().iterator(); all.hasNext(); ) {
            Claim claim = all.next().claim;
            if (!isOpenTo(claim, now)) {
                return;
            }
            all.remove();
            Held held = admit(claim, model, now, micros(claim.terms().firstLease()), false);
            model.tell(new Signal.Granted(claim.id(), granted(held, model, now)));
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
        long taken = 0;
        for (Held held : holders) {
            taken += held.claim.terms().permits();
        }
        return taken;
    }

    private Held admit(Claim claim, Model model, long now, long lease, boolean confirmed) {
        int block = Math.max(1, claim.terms().block());
        Held held = new Held(claim, claim.terms().mode(), model.draw(block), block, now, now + lease, confirmed);
        holders.add(held);
        return held;
    }

    /** Where a claim that is known already stands; null when it is not. */
    @Nullable
    Answer standing(Claim claim, Model model, long now) {
        Held held = find(claim.id());
        if (held != null) {
            return granted(held, model, now);
        }
        Waiting waiting = queue.get(claim.id());
        return waiting == null ? null : queued(waiting, ahead(waiting), model, now);
    }

    /** Lets a new claim in, queues it or refuses it. */
    Answer enter(Claim claim, Model model, long now) {
        Claim other = anyUse();
        if (other != null && !other.terms().agreesWith(claim.terms())) {
            int limit = other.terms().limit();
            String use = other.terms().mode() == Mode.PERMITS ? "a semaphore of " + limit : "a lock";
            return model.refused(Answer.Why.CONFLICT, use);
        }
        if (queue.isEmpty() && isOpenTo(claim, now)) {
            return granted(admit(claim, model, now, micros(claim.terms().lease()), true), model, now);
        }
        if (!claim.terms().queue()) {
            return model.refused(Answer.Why.BUSY, describeHolder(now));
        }
        Waiting waiting = new Waiting(claim, now + micros(claim.terms().patience()));
        queue.put(claim.id(), waiting);
        return queued(waiting, queue.size() - 1, model, now);
    }

    Renewal.Outcome renew(Renewals.Hold renewal, long now) {
        Held held = find(renewal.grant().claim().id());
        if (held == null) {
            return new Renewal.Lost(Reason.EXPIRED);
        }
        if (held.recalledDelay >= 0) {
            return new Renewal.Lost(Reason.BROKEN);
        }
        held.confirmed = true;
        held.expires = Math.max(held.expires, now + micros(renewal.lease()));
        return new Renewal.Kept(left(held, now));
    }

    /** Keeps a place in the queue; null when there is none. */
    @Nullable
    Answer refresh(Claim claim, Model model, long now) {
        Waiting waiting = queue.get(claim.id());
        if (waiting != null) {
            waiting.until = now + micros(claim.terms().patience());
        }
        return standing(claim, model, now);
    }

    boolean release(Claim claim, Model model, long now) {
        Held held = find(claim.id());
        if (held == null) {
            return false;
        }
        end(held, model, now);
        return true;
    }

    private void end(Held held, Model model, long now) {
        holders.remove(held);
        if (held.claim.stray()) {
            model.remember(held.claim);
        }
        if (held.recalledDelay >= 0) {
            close(now + held.recalledDelay);
        }
        handOver(model, now);
    }

    Optional<Grant> downgrade(Grant grant, Model model, long now) {
        Held held = find(grant.claim().id());
        if (held == null || held.recalledDelay >= 0) {
            return Optional.empty();
        }
        if (held.mode == Mode.EXCLUSIVE) {
            boolean hasNext = grant.block() > 1;
            held.mode = Mode.SHARED;
            held.token = hasNext ? grant.token() + 1 : model.draw(1);
            held.block = hasNext ? grant.block() - 1 : 1;
            handOver(model, now);
        }
        return Optional.of(new Grant(grant.claim(), held.mode, held.token, held.block));
    }

    boolean leave(ClaimId id, Model model, long now) {
        boolean left = queue.remove(id) != null;
        if (left) {
            handOver(model, now);
        }
        return left;
    }

    boolean breakHold(long token, long lockDelay, boolean atOnce, Model model, long now) {
        for (Held held : holders) {
            if (held.covers(token)) {
                held.recalledDelay = Math.max(held.recalledDelay, lockDelay);
                if (atOnce) {
                    model.tell(new Signal.Lost(held.claim.id(), Reason.BROKEN));
                    end(held, model, now);
                } else {
                    model.tell(new Signal.Recalled(held.claim.id()));
                }
                return true;
            }
        }
        return false;
    }

    boolean has(Sequencer sequencer, long now) {
        for (Held held : holders) {
            if (held.covers(sequencer.token()) && held.expires > now) {
                return held.mode == sequencer.mode() && held.recalledDelay < 0;
            }
        }
        return false;
    }

    /** What there is to see now, of holds that have not expired; empty when that is nothing. */
    Optional<LockInfo> describe(long now) {
        List<LockInfo.Hold> holds = new ArrayList<>();
        Mode mode = null;
        int limit = 0;
        for (Held held : holders) {
            if (held.expires > now) {
                mode = held.mode;
                limit = held.claim.terms().limit();
                holds.add(new LockInfo.Hold(
                        held.claim.terms().client(),
                        held.claim.terms().label(),
                        held.token,
                        held.claim.terms().permits(),
                        Instant.EPOCH.plus(held.since, ChronoUnit.MICROS),
                        left(held, now)));
            }
        }
        int waiters = 0;
        for (Waiting waiting : queue.values()) {
            if (waiting.until > now) {
                waiters++;
                if (mode == null) {
                    mode = waiting.claim.terms().mode();
                    limit = waiting.claim.terms().limit();
                }
            }
        }
        Duration closedFor = Duration.of(Math.max(0, closedUntil - now), ChronoUnit.MICROS);
        if (holds.isEmpty() && waiters == 0 && closedFor.isZero()) {
            return Optional.empty();
        }
        return Optional.of(new LockInfo(name, mode == null ? Mode.EXCLUSIVE : mode, limit, holds, waiters, closedFor));
    }

    private String describeHolder(long now) {
        if (holders.isEmpty()) {
            return closedUntil > now ? "closed by a lock-delay" : "awaited by others";
        }
        Held held = holders.get(0);
        return "held by " + held.claim.terms().client() + " since " + (now - held.since) / 1_000_000 + " s";
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

    private Answer.Granted granted(Held held, Model model, long now) {
        return new Answer.Granted(held.token, held.block, left(held, now), held.confirmed, model.time());
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

    private Answer.Queued queued(Waiting waiting, int ahead, Model model, long now) {
        // Only the head looks at the moment the name can open; the others would come in vain, and all at once.
        long slow = micros(waiting.claim.terms().patience()) / 3;
        long wait = ahead > 0 ? slow : Math.min(slow, opensIn(now));
        return new Answer.Queued(ahead, Duration.of(wait, ChronoUnit.MICROS), model.time());
    }

    private long opensIn(long now) {
        long opens = holders.isEmpty() ? closedUntil : Long.MAX_VALUE;
        for (Held held : holders) {
            opens = Math.min(opens, held.expires);
        }
        return Math.max(0, opens - now);
    }

    private static Duration left(Held held, long now) {
        return Duration.of(held.expires - now, ChronoUnit.MICROS);
    }
}
