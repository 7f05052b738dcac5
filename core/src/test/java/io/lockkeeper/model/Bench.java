// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.model;

import io.lockkeeper.LockInfo;
import io.lockkeeper.Mode;
import io.lockkeeper.Sequencer;
import io.lockkeeper.spi.Answer;
import io.lockkeeper.spi.Claim;
import io.lockkeeper.spi.ClaimId;
import io.lockkeeper.spi.Grant;
import io.lockkeeper.spi.LatchState;
import io.lockkeeper.spi.LatchStep;
import io.lockkeeper.spi.Renewal;
import io.lockkeeper.spi.Renewals;
import io.lockkeeper.spi.StoreTime;
import io.lockkeeper.spi.Terms;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** A model and a clock for it. Times are in milliseconds; the clock stands still until it is moved. */
final class Bench {
    static final long INCARNATION = 7;
    static final int BLOCK = 4;
    static final Duration LEASE = Duration.ofSeconds(10);
    static final Duration PATIENCE = Duration.ofSeconds(30);

    final Model model;
    private long millis = 1_000;
    private long ids;

    /** What the last command had told. */
    List<Signal> signals = List.of();

    Bench() {
        this(new Model(INCARNATION));
    }

    Bench(Model model) {
        this.model = model;
    }

    void pass(long by) {
        millis += by;
    }

    StoreTime in(long later) {
        return new StoreTime(INCARNATION, (millis + later) * 1_000);
    }

    <R> R apply(Command<R> command) {
        Model.Step<R> step = model.apply(command, millis * 1_000);
        signals = step.signals();
        return step.answer();
    }

    // ---- Claims ----

    static Terms terms(Mode mode) {
        return new Terms(mode, 1, 0, LEASE, Duration.ZERO, PATIENCE, BLOCK, true, "someone", "");
    }

    static Terms permits(int permits, int limit) {
        return new Terms(Mode.PERMITS, permits, limit, LEASE, Duration.ZERO, PATIENCE, 1, true, "someone", "");
    }

    static Terms leased(Terms t, Duration lease, Duration lockDelay) {
        return new Terms(
                t.mode(),
                t.permits(),
                t.limit(),
                lease,
                lockDelay,
                t.patience(),
                t.block(),
                t.queue(),
                t.client(),
                t.label());
    }

    static Terms once(Terms t) {
        return new Terms(
                t.mode(),
                t.permits(),
                t.limit(),
                t.lease(),
                t.lockDelay(),
                t.patience(),
                t.block(),
                false,
                t.client(),
                t.label());
    }

    /** A claim of this client with a fresh id, to be carried out within two seconds. */
    Claim claim(String client, String name, Terms terms) {
        return new Claim(name, new ClaimId(client, ++ids), terms, in(2_000), false);
    }

    Claim writer(String client) {
        return claim(client, "x", terms(Mode.EXCLUSIVE));
    }

    Claim reader(String client) {
        return claim(client, "x", terms(Mode.SHARED));
    }

    // ---- Commands ----

    Answer send(Claim claim) {
        return apply(new Command.Claim(claim));
    }

    Grant grant(Claim claim) {
        return Grant.of(claim, (Answer.Granted) send(claim));
    }

    /** The grant that the last command has told of. */
    Grant told(Claim claim) {
        for (Signal signal : signals) {
            if (signal instanceof Signal.Granted granted && granted.claim().equals(claim.id())) {
                return Grant.of(claim, granted.grant());
            }
        }
        throw new AssertionError(claim.id() + " was not told of a grant, but " + signals);
    }

    Renewal.Outcome renew(Grant grant, Duration lease) {
        return apply(new Command.Renew(new Renewals(List.of(new Renewals.Hold(grant, lease, 0)), List.of())))
                .holds()
                .get(0);
    }

    Answer refresh(Claim claim) {
        return apply(new Command.Renew(new Renewals(List.of(), List.of(claim))))
                .queued()
                .get(0);
    }

    boolean release(Grant grant) {
        return apply(new Command.Release(grant));
    }

    Optional<Grant> downgrade(Grant grant) {
        return apply(new Command.Downgrade(grant));
    }

    void withdraw(Claim claim) {
        apply(new Command.Withdraw(claim));
    }

    boolean breakHold(long token, Duration lockDelay, boolean now) {
        return apply(new Command.Break("x", token, lockDelay, now));
    }

    boolean check(Grant grant) {
        return apply(new Command.Check(new Sequencer(grant.claim().name(), grant.mode(), grant.token())));
    }

    Optional<LockInfo> inspect() {
        return apply(new Command.Inspect("x"));
    }

    LatchState latch(LatchStep step) {
        return apply(new Command.Latch(step));
    }
}
