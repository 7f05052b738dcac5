// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck.model;

import io.lockkeeper.Guarantee;
import io.lockkeeper.model.Command;
import io.lockkeeper.model.Model;
import io.lockkeeper.model.Signal;
import io.lockkeeper.spi.Answer;
import io.lockkeeper.spi.ClaimId;
import io.lockkeeper.spi.LockStore;
import io.lockkeeper.spi.Renewal;
import io.lockkeeper.spi.Renewals;
import io.lockkeeper.spi.StoreTime;
import io.lockkeeper.tck.model.ScriptStep.Due;
import io.lockkeeper.tck.model.ScriptStep.Lasts;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The model and the store, as one script sees them: each step is made on both. Every run has its own names and ids, so that
 * several runs can be played to one store side by side.
 */
final class BothSides {
    private static final long HOUR_MICROS = 3_600_000_000L;

    final Clients clients;

    /** How long things last in this script. */
    final Pace pace;

    /** What all names of this script begin with. */
    final String prefix;

    final ScriptJudge judge;
    final ScriptSignals signals;
    private final Model model = new Model(1);
    private final Map<Object, StoreTime> times = new HashMap<>();
    private long now = 1_000_000_000_000L;
    private @Nullable ClaimId handedOver;

    BothSides(Clients clients, Pace pace, String prefix) {
        this.clients = clients;
        this.pace = pace;
        this.prefix = prefix;
        this.judge = new ScriptJudge(clients.store(0).guarantees().has(Guarantee.FENCED));
        this.signals = new ScriptSignals(clients);
        for (int name = 0; name < Clients.NAMES; name++) {
            theirTime(0, name(name));
        }
    }

    /** The model's answer; {@code ownClaims} are those that the asker learns about by the answer itself. */
    <R> R ask(Command<R> command, int... ownClaims) {
        Model.Step<R> step = model.apply(command, ++now);
        signals.expect(step.signals(), ownClaims.length > 0);
        for (Signal signal : step.signals()) {
            if (signal instanceof Signal.Granted granted) {
                handedOver = granted.claim();
            }
        }
        return step.answer();
    }

    /** The claim that was handed over last, if one was since this was asked last. */
    @Nullable
    ClaimId takeHandedOver() {
        ClaimId last = handedOver;
        handedOver = null;
        return last;
    }

    /** Whether the model still has an answer to a copy of this claim, other than to take it for a new one. */
    boolean isAnswered(ScriptAttempt attempt) {
        Model copy = model.copy();
        Renewal standing = copy.apply(new Command.Renew(new Renewals(List.of(), List.of(attempt.ours))), now)
                .answer();
        return !(standing.queued().get(0) instanceof Answer.Refused)
                || ScriptJudge.isVoid(
                        copy.apply(new Command.Claim(attempt.ours), now).answer());
    }

    LockStore store(int client) {
        return clients.store(client);
    }

    String name(int name) {
        return prefix + ScriptStep.letter(name);
    }

    static Duration duration(Lasts lasts, Duration ofShort) {
        return lasts == Lasts.NONE ? Duration.ZERO : lasts == Lasts.LONG ? Pace.LONG : ofShort;
    }

    /** Lets time pass in the model. */
    void pass(Duration time) {
        now += time.toNanos() / 1_000;
    }

    /** A deadline in the model's time. */
    StoreTime ourDeadline(Due due) {
        return deadline(due, new StoreTime(1, now));
    }

    /** A deadline in the time of the store that this client uses for this name. */
    StoreTime theirDeadline(Due due, int client, String name) {
        return deadline(due, theirTime(client, name));
    }

    /** Asked once for each lane, and before time counts: deadlines are hours away. */
    private StoreTime theirTime(int client, String name) {
        Object lane = store(client).lane(name);
        return times.computeIfAbsent(lane, l -> store(client).time(l));
    }

    private static StoreTime deadline(Due due, StoreTime time) {
        return switch (due) {
            case FAR -> time.plusMicros(HOUR_MICROS);
            case PAST -> time.plusMicros(-1_000_000);
            case ELSEWHERE -> new StoreTime(time.incarnation() + 1, time.micros() + HOUR_MICROS);
        };
    }
}
