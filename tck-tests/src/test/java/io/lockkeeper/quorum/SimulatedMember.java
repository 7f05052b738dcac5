// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.quorum;

import io.lockkeeper.Guarantee;
import io.lockkeeper.Guarantees;
import io.lockkeeper.LockInfo;
import io.lockkeeper.Mode;
import io.lockkeeper.Sequencer;
import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.model.Command;
import io.lockkeeper.model.Model;
import io.lockkeeper.spi.Answer;
import io.lockkeeper.spi.Claim;
import io.lockkeeper.spi.ClaimId;
import io.lockkeeper.spi.Grant;
import io.lockkeeper.spi.LatchState;
import io.lockkeeper.spi.LatchStep;
import io.lockkeeper.spi.LockStore;
import io.lockkeeper.spi.Promises;
import io.lockkeeper.spi.Renewal;
import io.lockkeeper.spi.Renewals;
import io.lockkeeper.spi.Signals;
import io.lockkeeper.spi.StoreTime;
import io.lockkeeper.spi.Subscription;
import io.lockkeeper.spi.Terms;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A member that loses its memory, and whose clock jumps, when it is told to. Its tokens follow its clock, as those of Redis
 * and of databases do.
 */
final class SimulatedMember implements LockStore {
    /** What becomes of a step. */
    enum Fate {
        REQUEST_LOST,
        ANSWER_LOST
    }

    /** Mistakes of a member that must show. */
    enum Mistake {
        /** It does not raise its floor. */
        RAISES_NOTHING,
        /** It loses its memory, but not its marker. */
        KEEPS_ITS_MARKER
    }

    private static final Terms ANCHOR = new Terms(
            Mode.EXCLUSIVE, 1, 0, Duration.ofDays(9_999), Duration.ZERO, Duration.ZERO, 1, false, "anchor", "");

    private final LongSupplier nanos;
    private final @Nullable Mistake mistake;
    private long offset = Duration.ofDays(1).toSeconds() * 1_000_000;
    private Model model = new Model(1);
    private Grant anchor;
    private @Nullable Fate fate;
    private boolean ahead;
    private boolean hasBeenAhead;

    SimulatedMember(LongSupplier nanos, @Nullable Mistake mistake) {
        this.nanos = nanos;
        this.mistake = mistake;
        this.anchor = anchor();
    }

    private Grant anchor() {
        Claim claim = new Claim("anchor", new ClaimId("anchor", 1), ANCHOR, new StoreTime(1, Long.MAX_VALUE), false);
        return Grant.of(claim, (Answer.Granted)
                model.apply(new Command.Claim(claim), micros()).answer());
    }

    private long micros() {
        return nanos.getAsLong() / 1_000 + offset;
    }

    void fate(@Nullable Fate next) {
        fate = next;
    }

    /** Whether its marker is final. */
    boolean counts() {
        LatchState state = model.apply(new Command.Latch(new LatchStep.Look(Marker.NAME)), micros())
                .answer();
        return state.count() != 0 && Marker.of(state.count()).isFinal();
    }

    void loseMemory() {
        LatchState marker = model.apply(new Command.Latch(new LatchStep.Look(Marker.NAME)), micros())
                .answer();
        model = new Model(1);
        anchor = anchor();
        if (mistake == Mistake.KEEPS_ITS_MARKER && marker.count() > 0) {
            latch(new LatchStep.Set(
                    Marker.NAME, marker.count(), new ClaimId("anchor", micros()), new StoreTime(1, Long.MAX_VALUE)));
        }
    }

    void jump(Duration by) {
        offset += by.toNanos() / 1_000;
    }

    /** Jumps ahead by this much, or back again if it is. */
    void jumpAheadOrBack(Duration by) {
        jump(ahead ? by.negated() : by);
        ahead = !ahead;
        hasBeenAhead = true;
    }

    boolean isAhead() {
        return ahead;
    }

    /** Whether its clock is ahead or has been: then its tokens still are, until the clocks of the others have come up. */
    boolean hasBeenAhead() {
        return hasBeenAhead;
    }

    private <R> R step(Command<R> command) {
        if (fate == Fate.REQUEST_LOST) {
            throw new StoreUnavailableException("lost on its way", null);
        }
        // The floor follows the clock.
        Renewals raise = new Renewals(List.of(new Renewals.Hold(anchor, ANCHOR.lease(), micros() - 1)), List.of());
        model.apply(new Command.Renew(raise), micros());
        R answer = model.apply(command, micros()).answer();
        if (fate == Fate.ANSWER_LOST) {
            throw new StoreUnavailableException("the answer was lost", null);
        }
        return answer;
    }

    @Override
    public Answer claim(Claim claim) {
        return step(new Command.Claim(claim));
    }

    @Override
    public Renewal renew(Renewals batch) {
        if (mistake == Mistake.RAISES_NOTHING) {
            return step(new Command.Renew(new Renewals(
                    batch.holds().stream()
                            .map(hold -> new Renewals.Hold(hold.grant(), hold.lease(), 0))
                            .toList(),
                    batch.queued())));
        }
        return step(new Command.Renew(batch));
    }

    @Override
    public boolean release(Grant grant) {
        return step(new Command.Release(grant));
    }

    @Override
    public Optional<Grant> downgrade(Grant grant) {
        return step(new Command.Downgrade(grant));
    }

    @Override
    public void withdraw(Claim claim) {
        step(new Command.Withdraw(claim));
    }

    @Override
    public LatchState latch(LatchStep latchStep) {
        return step(new Command.Latch(latchStep));
    }

    @Override
    public Optional<LockInfo> inspect(String name) {
        return step(new Command.Inspect(name));
    }

    @Override
    public List<LockInfo> list(String prefix, int limit) {
        return step(new Command.ListNames(prefix, limit));
    }

    @Override
    public boolean check(Sequencer sequencer) {
        return step(new Command.Check(sequencer));
    }

    @Override
    public boolean breakHold(String name, long token, Duration lockDelay, boolean now) {
        return step(new Command.Break(name, token, lockDelay, now));
    }

    @Override
    public StoreTime time(Object lane) {
        return step(new Command.Latch(new LatchStep.Look("time"))).at();
    }

    @Override
    public String id() {
        return "simulated";
    }

    @Override
    public Guarantees guarantees() {
        return new Promises(EnumSet.allOf(Guarantee.class), Duration.ofMillis(100));
    }

    @Override
    public Subscription listen(String client, Signals signals) {
        return () -> {};
    }

    @Override
    public void close() {}
}
